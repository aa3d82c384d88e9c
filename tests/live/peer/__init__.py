"""HBase's PerformanceEvaluation beside the binding."""
