"""A patch as models write it: read in any of its forms, placed exactly, tried by git.

text -> forms.read -> changes -> plan.plan -> placed changes -> trial.tried -> contents
"""
