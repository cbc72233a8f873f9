/**
 * Locks for suspend functions. Start reading at {@code io.mortise.kotlin.SuspendLock}, which is in
 * src/main/kotlin.
 */
module io.mortise.kotlin {
  requires transitive io.mortise.core;
  requires transitive kotlin.stdlib;
  requires transitive kotlinx.coroutines.core;
  requires static transitive org.jspecify;

  exports io.mortise.kotlin;
}
