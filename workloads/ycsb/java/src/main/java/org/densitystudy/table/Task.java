package org.densitystudy.table;

/** One verb with its arguments, parsed. Its result is a record, printed as JSON. */
interface Task {
  Object run(Session session) throws Exception;
}
