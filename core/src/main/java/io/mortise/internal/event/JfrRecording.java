package io.mortise.internal.event;

import io.mortise.event.LockListener.AcquireEnded;
import io.mortise.event.LockListener.LeaseEnded;
import io.mortise.event.LockListener.RenewalOutcome;
import io.mortise.event.LockListener.SessionChanged;
import io.mortise.event.LockListener.SessionRenewed;
import java.util.Locale;
import jdk.jfr.FlightRecorder;

/**
 * Events of the Java Flight Recorder. Only this and the event classes need module jdk.jfr. Loading
 * the first event class takes tens of milliseconds, so none is loaded before the recorder is
 * initialized, for instance by the first recording of the process.
 */
final class JfrRecording implements FlightRecording {
  /** A renewal is written if it takes longer than the TTL divided by this. */
  private static final int SLOW_PART = 3;

  /** Events used to check whether their settings are on; never committed. */
  private static final class EventSettings {
    static final LockAcquireEvent ANY_ACQUIRE = new LockAcquireEvent();
    static final LockHoldEvent ANY_HOLD = new LockHoldEvent();
    static final LeaseLostEvent ANY_LOSS = new LeaseLostEvent();

    static boolean wantAny() {
      return ANY_ACQUIRE.isEnabled() || ANY_HOLD.isEnabled() || ANY_LOSS.isEnabled();
    }
  }

  @Override
  public boolean isEnabled() {
    return FlightRecorder.isInitialized() && EventSettings.wantAny();
  }

  @Override
  public Object beginAcquire() {
    LockAcquireEvent event = new LockAcquireEvent();
    event.begin();
    return event;
  }

  @Override
  public void endAcquire(Object begun, AcquireEnded ended) {
    LockAcquireEvent event = (LockAcquireEvent) begun;
    event.end();
    if (event.shouldCommit()) {
      event.call = ended.call().id();
      event.lock = ended.call().lock();
      event.access = text(ended.call().access());
      event.lockLabel = ended.call().label();
      event.store = ended.call().store();
      event.outcome = text(ended.outcome());
      event.token = ended.token().orElse(0);
      event.reason = ended.reason();
      event.commit();
    }
  }

  @Override
  public Object beginHold() {
    LockHoldEvent event = new LockHoldEvent();
    event.begin();
    return event;
  }

  @Override
  public void endHold(Object begun, LeaseEnded ended) {
    LockHoldEvent event = (LockHoldEvent) begun;
    event.end();
    if (event.shouldCommit()) {
      event.call = ended.call().id();
      event.lock = ended.call().lock();
      event.access = text(ended.call().access());
      event.lockLabel = ended.call().label();
      event.store = ended.call().store();
      event.end = text(ended.end());
      event.token = ended.token().orElse(0);
      event.commit();
    }
    if (ended.end().isLoss()) {
      lost(ended);
    }
  }

  private static void lost(LeaseEnded ended) {
    LeaseLostEvent event = new LeaseLostEvent();
    if (event.shouldCommit()) {
      event.call = ended.call().id();
      event.lock = ended.call().lock();
      event.store = ended.call().store();
      event.cause = text(ended.end());
      event.token = ended.token().orElse(0);
      event.held = ended.held().toNanos();
      event.reason = ended.reason();
      event.commit();
    }
  }

  @Override
  public void renewed(SessionRenewed renewed) {
    if (!FlightRecorder.isInitialized()) {
      return;
    }
    RenewalEvent event = new RenewalEvent();
    boolean isSlow = renewed.took().multipliedBy(SLOW_PART).compareTo(renewed.session().ttl()) > 0;
    if (event.isEnabled() && (isSlow || renewed.outcome() != RenewalOutcome.RENEWED)) {
      event.session = renewed.session().id();
      event.store = renewed.session().store();
      event.outcome = text(renewed.outcome());
      event.took = renewed.took().toNanos();
      event.remaining = renewed.remaining().toNanos();
      event.reason = renewed.reason();
      event.commit();
    }
  }

  @Override
  public void changed(SessionChanged changed) {
    if (!FlightRecorder.isInitialized()) {
      return;
    }
    SessionEvent event = new SessionEvent();
    if (event.isEnabled()) {
      event.session = changed.session().id();
      event.store = changed.session().store();
      event.state = text(changed.state());
      event.leases = changed.leases();
      event.remaining = changed.remaining().toNanos();
      event.reason = changed.reason();
      event.commit();
    }
  }

  private static String text(Enum<?> constant) {
    return constant.name().toLowerCase(Locale.ROOT).replace('_', '-');
  }
}
