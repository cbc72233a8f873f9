/**
 * A lock provider for ShedLock that keeps its locks in any store of Mortise. Start reading at
 * {@code io.mortise.shedlock}.
 */
module io.mortise.shedlock {
  requires transitive io.mortise.core;
  requires transitive net.javacrumbs.shedlock.core;
  requires org.slf4j;
  requires static transitive org.jspecify;

  exports io.mortise.shedlock;
}
