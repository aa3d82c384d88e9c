package org.densitystudy.stores;

/** One thread's access to a store by its client alone, as the best loop by hand would have it. It fails on any error. */
public interface HandStore extends AutoCloseable {
  /** Reads all fields of a row; how many they are. */
  int read(String key) throws Exception;

  /** Writes one field of a row, acknowledged before it returns. */
  void update(String key, String field, byte[] value) throws Exception;
}
