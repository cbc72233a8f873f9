package io.mortise.internal.event;

import jdk.jfr.Category;
import jdk.jfr.Description;
import jdk.jfr.Event;
import jdk.jfr.Label;
import jdk.jfr.Name;
import jdk.jfr.StackTrace;
import jdk.jfr.Threshold;
import org.jspecify.annotations.Nullable;

/** An acquire, in a recording of the Java Flight Recorder. */
@Name("io.mortise.Acquire")
@Label("Lock Acquire")
@Category("Mortise")
@Description("An acquire of a distributed lock, from the call to its end")
@StackTrace(false)
@Threshold("10 ms")
final class LockAcquireEvent extends Event {
  @Label("Call")
  long call;

  @Label("Lock")
  @Nullable String lock;

  @Label("Access")
  @Nullable String access;

  @Label("Lock Label")
  @Nullable String lockLabel;

  @Label("Store")
  @Nullable String store;

  @Label("Outcome")
  @Nullable String outcome;

  @Label("Fencing Token")
  @Description("0 if there is none")
  long token;

  @Label("Reason")
  @Nullable String reason;
}
