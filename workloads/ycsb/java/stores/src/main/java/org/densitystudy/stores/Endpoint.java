package org.densitystudy.stores;

import java.util.Map;

/**
 * A store that stands already. All that a study has there is below one namespace: a prefix of keys, a keyspace, or
 * sets. Its tag says whose it is.
 */
public interface Endpoint extends Admin {
  /** {@code tag} of the run that has the namespace; empty where it has none; no entry if there is no namespace. */
  Map<String, Object> owner() throws Exception;

  /** Makes the namespace, which must not exist. */
  void claim(String tag) throws Exception;

  /** Removes the namespace with all that is in it, if it is the tag's. */
  void release(String tag) throws Exception;

  /** What the servers say about themselves: version, durability, room. "unknown" where they do not say. */
  Map<String, Object> facts() throws Exception;
}
