from tests.workspace import box as box
from tests.workspace import dead_box as dead_box
from tests.workspace import engine as engine
from tests.workspace import workspace as workspace
