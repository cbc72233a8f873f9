package io.mortise.bench.subject;

import io.mortise.event.LockListener;

/** Is told of all that happens, and does nothing. */
final class SilentListener implements LockListener {
  @Override
  public void onAcquireStarted(AcquireStarted event) {}

  @Override
  public void onAcquireQueued(AcquireQueued event) {}

  @Override
  public void onAcquireEnded(AcquireEnded event) {}

  @Override
  public void onLeaseEnded(LeaseEnded event) {}

  @Override
  public void onSessionRenewed(SessionRenewed event) {}

  @Override
  public void onSessionChanged(SessionChanged event) {}
}
