package io.mortise.internal.event;

import jdk.jfr.Category;
import jdk.jfr.Description;
import jdk.jfr.Event;
import jdk.jfr.Label;
import jdk.jfr.Name;
import jdk.jfr.StackTrace;
import jdk.jfr.Timespan;
import org.jspecify.annotations.Nullable;

/**
 * The loss of a lease, in a recording of the Java Flight Recorder. It is written on a thread of the
 * engine, so a stack trace would have no information.
 */
@Name("io.mortise.Lost")
@Label("Lease Lost")
@Category("Mortise")
@Description("A lease that ended otherwise than by its holder's will")
@StackTrace(false)
final class LeaseLostEvent extends Event {
  @Label("Call")
  @Description("The call of the acquire")
  long call;

  @Label("Lock")
  @Nullable String lock;

  @Label("Store")
  @Nullable String store;

  @Label("Cause")
  @Nullable String cause;

  @Label("Fencing Token")
  @Description("0 if there is none")
  long token;

  @Label("Held")
  @Timespan(Timespan.NANOSECONDS)
  long held;

  @Label("Reason")
  @Nullable String reason;
}
