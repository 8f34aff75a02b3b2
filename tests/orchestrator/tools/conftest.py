from tests.workspace import bench as bench
from tests.workspace import workspace as workspace
