/** Locks for code on Reactor. Start reading at {@code io.mortise.reactor.ReactiveLock}. */
@SuppressWarnings({"requires-automatic", "requires-transitive-automatic"})
module io.mortise.reactor {
  requires transitive io.mortise.core;
  requires transitive reactor.core;
  requires transitive org.reactivestreams;
  requires static transitive org.jspecify;

  exports io.mortise.reactor;
}
