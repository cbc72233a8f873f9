package io.mortise.jdbc.table;

import io.mortise.spi.Reply;
import io.mortise.spi.Request;
import io.mortise.spi.SessionNotification;
import java.sql.SQLException;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/** One {@link ContendedRequest}. */
final class ContendedRequestRunner {
  private ContendedRequestRunner() {}

  static ContendedRequest.@Nullable ContendedOutcome queueUp(
      LockRepository lockRepository,
      Request.Acquire request,
      Consumer<SessionNotification> pendingNotifications)
      throws SQLException {
    return step(lockRepository, request, pendingNotifications).outcome;
  }

  static boolean handOff(
      LockRepository lockRepository,
      Request.Abandon request,
      Consumer<SessionNotification> pendingNotifications)
      throws SQLException {
    return step(lockRepository, request, pendingNotifications).reply() != null;
  }

  private static ContendedRequest step(
      LockRepository lockRepository,
      Request request,
      Consumer<SessionNotification> pendingNotifications)
      throws SQLException {
    ContendedRequest contendedRequest = new ContendedRequest(request);
    lockRepository.contended(contendedRequest);
    contendedRequest.pendingNotifications().forEach(pendingNotifications);
    return contendedRequest;
  }

  static @Nullable Reply reply(StoreConnection storeConnection, Request request)
      throws SQLException {
    return storeConnection.contended(request).reply();
  }
}
