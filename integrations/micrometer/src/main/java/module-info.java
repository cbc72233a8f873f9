/**
 * Meters and observations of locks for Micrometer, with a dashboard and alert rules. Start reading
 * at {@code io.mortise.micrometer.LockMetrics}.
 */
@SuppressWarnings({"requires-automatic", "requires-transitive-automatic"})
module io.mortise.micrometer {
  requires transitive io.mortise.core;
  requires transitive micrometer.core;
  requires transitive micrometer.observation;
  requires org.slf4j;
  requires static transitive org.jspecify;

  exports io.mortise.micrometer;
}
