package io.mortise.jdbc.notify;

import io.mortise.spi.Renewal;
import io.mortise.spi.SessionId;
import io.mortise.spi.SessionNotification;
import java.util.List;

/** A session that waits all the time, and that nothing comes of. */
public final class WaitingSession implements NotifiedSession {
  private static final SessionId ID = new SessionId("sessionAaaaa");

  @Override
  public SessionId id() {
    return ID;
  }

  @Override
  public boolean isWaiting() {
    return true;
  }

  @Override
  public int ahead() {
    return 0;
  }

  @Override
  public boolean isHolding() {
    return false;
  }

  @Override
  public long pushedTo() {
    return 0;
  }

  @Override
  public int push(List<Renewal.NumberedNotification> numberedNotifications) {
    return numberedNotifications.size();
  }

  @Override
  public void hint(SessionNotification sessionNotification) {}

  @Override
  public void connectionLost(String cause) {}
}
