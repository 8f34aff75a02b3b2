from tests.workspace import workspace as workspace
