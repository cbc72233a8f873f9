package io.mortise.internal.event;

import jdk.jfr.Category;
import jdk.jfr.Description;
import jdk.jfr.Event;
import jdk.jfr.Label;
import jdk.jfr.Name;
import jdk.jfr.StackTrace;
import jdk.jfr.Threshold;
import org.jspecify.annotations.Nullable;

/** A lease, in a recording of the Java Flight Recorder. */
@Name("io.mortise.Hold")
@Label("Lock Hold")
@Category("Mortise")
@Description("A lease on a distributed lock, from its grant to its end")
@StackTrace(false)
@Threshold("10 ms")
final class LockHoldEvent extends Event {
  @Label("Call")
  @Description("The call of the acquire")
  long call;

  @Label("Lock")
  @Nullable String lock;

  @Label("Access")
  @Nullable String access;

  @Label("Lock Label")
  @Nullable String lockLabel;

  @Label("Store")
  @Nullable String store;

  @Label("End")
  @Nullable String end;

  @Label("Fencing Token")
  @Description("0 if there is none")
  long token;
}
