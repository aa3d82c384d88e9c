"""Pinned Maven Central artifacts as one relocatable tree per stack, cached and verified."""

from density_study.cluster.stack.java import Java, find_java
from density_study.cluster.stack.stack import Stack, classpath, ensure, ensure_all, stack_home

__all__ = ["Java", "Stack", "classpath", "ensure", "ensure_all", "find_java", "stack_home"]
