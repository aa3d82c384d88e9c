"""What is made here of recordings that JVMs left on the machines: flame graphs, findings of rules."""
