"""Hardware without hardware: real processes, a stand-in npu-smi, a service of ours that fails as it is told."""
