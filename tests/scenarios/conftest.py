from tests.workspace import bench as bench
from tests.workspace import workspace as workspace

collect_ignore = ["agent"]
"""Files that the scenarios are about; some are tests of their own."""
