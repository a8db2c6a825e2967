"""The methods we are compared with, one file each, behind one contract (`nodewise.baselines.estimator`)."""
