"""What the chart installs, tried on a real API server: kinds, admission policies, rights."""
