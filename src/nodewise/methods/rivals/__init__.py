"""The label-free methods that the paper compares with, and newer ones, one file each."""
