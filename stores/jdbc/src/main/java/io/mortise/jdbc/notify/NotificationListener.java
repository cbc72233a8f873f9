package io.mortise.jdbc.notify;

import java.util.concurrent.CompletionStage;
import java.util.function.BooleanSupplier;

/**
 * How a server wakes this process when a notification was left for one of its sessions. One that is
 * missed is found by polling and by the renewals.
 */
public interface NotificationListener extends AutoCloseable {
  /** Somebody waits from now on. */
  void onWaiterAdded();

  /** Whether notifications are received now, so that polling may be slow. */
  boolean isListening();

  /** Whether it is known that none will ever be received: a pooler is in the way. */
  boolean isCutOff();

  /** Has no connection while that is true. */
  void yieldsWhile(BooleanSupplier lacks);

  @Override
  void close();

  /** Speaks on a connection that is not the listener's. */
  @FunctionalInterface
  interface NotificationSender {
    /** Completes when it is committed. */
    CompletionStage<Boolean> sendNotification(String channel, String payload);
  }
}
