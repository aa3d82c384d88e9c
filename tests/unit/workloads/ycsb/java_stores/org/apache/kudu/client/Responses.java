package org.apache.kudu.client;

/** Answers to a write, whose constructors the client keeps to its package. */
public final class Responses {
  private Responses() {}

  /** The server took the request, and the row. */
  public static OperationResponse accepted() {
    return new OperationResponse(0, "server", 0, null, (RowError) null);
  }

  /** The server took the request, but not the row. */
  public static OperationResponse refused() {
    return new OperationResponse(0, "server", 0, null, new RowError(Status.NotFound("no such row"), null));
  }
}
