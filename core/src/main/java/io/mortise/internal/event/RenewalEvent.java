package io.mortise.internal.event;

import jdk.jfr.Category;
import jdk.jfr.Description;
import jdk.jfr.Event;
import jdk.jfr.Label;
import jdk.jfr.Name;
import jdk.jfr.StackTrace;
import jdk.jfr.Timespan;
import org.jspecify.annotations.Nullable;

/** A slow or failed renewal, in a recording of the Java Flight Recorder. */
@Name("io.mortise.Renewal")
@Label("Session Renewal")
@Category("Mortise")
@Description("A renewal of a session that failed or took more than a third of the TTL")
@StackTrace(false)
final class RenewalEvent extends Event {
  @Label("Session")
  @Nullable String session;

  @Label("Store")
  @Nullable String store;

  @Label("Outcome")
  @Nullable String outcome;

  @Label("Took")
  @Timespan(Timespan.NANOSECONDS)
  long took;

  @Label("Remaining")
  @Description("How long the session is valid if it is not renewed again")
  @Timespan(Timespan.NANOSECONDS)
  long remaining;

  @Label("Reason")
  @Nullable String reason;
}
