"""Estimators people call."""
