package io.mortise.internal.event;

import jdk.jfr.Category;
import jdk.jfr.Description;
import jdk.jfr.Event;
import jdk.jfr.Label;
import jdk.jfr.Name;
import jdk.jfr.StackTrace;
import jdk.jfr.Timespan;
import org.jspecify.annotations.Nullable;

/** A change of a session, in a recording of the Java Flight Recorder. */
@Name("io.mortise.Session")
@Label("Session State")
@Category("Mortise")
@Description("A session with a store was opened, is in trouble, has recovered, or is over")
@StackTrace(false)
final class SessionEvent extends Event {
  @Label("Session")
  @Nullable String session;

  @Label("Store")
  @Nullable String store;

  @Label("State")
  @Nullable String state;

  @Label("Leases")
  int leases;

  @Label("Remaining")
  @Description("How long the session is valid if it is not renewed again")
  @Timespan(Timespan.NANOSECONDS)
  long remaining;

  @Label("Reason")
  @Nullable String reason;
}
