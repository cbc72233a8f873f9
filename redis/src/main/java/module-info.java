/** Locks kept in Redis, by the Lettuce client. Start reading at {@code io.mortise.redis}. */
@SuppressWarnings("requires-automatic")
module io.mortise.redis {
  requires io.mortise.core;
  requires lettuce.core;
  requires static transitive org.jspecify;
}
