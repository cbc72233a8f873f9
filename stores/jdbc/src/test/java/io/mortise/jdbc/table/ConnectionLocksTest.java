package io.mortise.jdbc.table;

import static io.mortise.jdbc.table.TestTables.NAMESPACE;
import static io.mortise.jdbc.table.TestTables.with;
import static org.assertj.core.api.Assertions.assertThat;

import io.mortise.jdbc.JdbcStore;
import io.mortise.jdbc.PostgresServers;
import io.mortise.jdbc.TestSession;
import io.mortise.spi.AttemptId;
import io.mortise.spi.LockStore;
import io.mortise.spi.Renewal;
import io.mortise.spi.Reply;
import io.mortise.spi.Request;
import io.mortise.spi.SessionNotification;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import org.awaitility.Awaitility;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedClass;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * As {@link ServerStatementsTest}, of waiters that are passed over since they have no connection.
 */
@ParameterizedClass
@ValueSource(strings = {"postgresql", "mysql", "mariadb"})
class ConnectionLocksTest extends ServerStatementsFixture {
  private static final String HEAD = OTHER.session().value();
  private static final String NEXT = THIRD.session().value();
  private static final Request.Abandon RELEASE = new Request.Abandon(NAME, OLD);

  /** The session row of a process that holds a connection lock. */
  private void saidToBeConnected(String... sessions) throws SQLException {
    for (String session : sessions) {
      Map<String, Object> row =
          tables.all("session").stream()
              .filter(all -> all.get("id").equals(session))
              .findAny()
              .get();
      try (var delete = connect();
          var statement =
              delete.prepareStatement(
                  "DELETE FROM " + tables.text.table("session") + " WHERE id = ?")) {
        statement.setString(1, session);
        statement.executeUpdate();
      }
      tables.put("session", with(row, "ttl_us", MINUTE + 1));
    }
  }

  private void lockWithQueue() throws SQLException {
    only(held(OLD, "waiters", 2, "told", 3));
    queue(List.of(waits(OTHER, 5), waits(THIRD, 6)));
  }

  @Test
  void givenConnection_whenItsLockIsTaken_thenNobodyElseTakesIt_untilItIsGivenBack()
      throws SQLException {
    try (StoreConnection second = storeConnection(connect())) {
      assertThat(storeConnection.repository.takeConnectionLock(HEAD)).isTrue();
      assertThat(storeConnection.repository.hasConnectionLock(HEAD)).isTrue();
      assertThat(storeConnection.repository.takeConnectionLock(HEAD))
          .as("it is held already")
          .isFalse();
      assertThat(storeConnection.repository.takeConnectionLock(NEXT))
          .as("that of another session")
          .isTrue();
      assertThat(second.repository.takeConnectionLock(HEAD)).isFalse();
      assertThat(second.repository.hasConnectionLock(HEAD)).isFalse();
      assertThat(second.repository.withoutConnection(Set.of(HEAD, NEXT))).isEmpty();

      storeConnection.sessions.close(OTHER.session());
      assertThat(storeConnection.repository.hasConnectionLock(HEAD)).isFalse();
      assertThat(second.repository.takeConnectionLock(HEAD)).isTrue();
      assertThat(second.repository.withoutConnection(Set.of(NEXT))).isEmpty();
      storeConnection.detach();
      assertThat(second.repository.withoutConnection(Set.of(NEXT))).containsExactly(NEXT);
      second.detach();
    }
  }

  @Test
  void givenConnectionOfAPool_whenItIsGivenUpAfterAnError_thenTheLockEndsWithIt()
      throws SQLException {
    Connection lent = connect();
    Connection pooled = neverClosed(lent);
    StoreConnection broken = storeConnection(pooled);
    broken.borrowed(ConnectionState.of(pooled));
    assertThat(broken.repository.takeConnectionLock(HEAD)).isTrue();
    broken.close();
    try (lent;
        StoreConnection second = storeConnection(connect())) {
      Awaitility.await("the server sees that the connection ended")
          .atMost(10, TimeUnit.SECONDS)
          .until(() -> second.repository.takeConnectionLock(HEAD));
      second.detach();
    }
  }

  /** As a pool lends it: closing gives it back. */
  private static Connection neverClosed(Connection connection) {
    return proxy(
        (method, arguments) ->
            method.getName().equals("close") ? null : method.invoke(connection, arguments));
  }

  @Test
  void givenProxyThatSendsNamedLocksElsewhere_whenOneIsTaken_thenTheProcessDoesNotSayThatItHasOne()
      throws SQLException {
    Assumptions.assumeFalse(database.equals("postgresql"), "its number of the connection is asked");
    try (Connection elsewhere = connect();
        Connection writer = connect();
        StoreConnection process = storeConnection(writer);
        StoreConnection behindProxy =
            storeConnection(
                proxy(
                    (method, arguments) ->
                        method.invoke(
                            method.getName().startsWith("prepare")
                                    && ((String) arguments[0]).contains("GET_LOCK(")
                                ? elsewhere
                                : writer,
                            arguments)))) {
      assertThat(behindProxy.repository.takeConnectionLock(HEAD)).isFalse();
      assertThat(behindProxy.repository.hasConnectionLock(HEAD)).isFalse();
      assertThat(process.repository.takeConnectionLock(NEXT)).as("without the proxy").isTrue();
    }
  }

  @FunctionalInterface
  private interface Call {
    @Nullable Object on(Method method, Object[] arguments) throws ReflectiveOperationException;
  }

  private static Connection proxy(Call call) {
    return (Connection)
        Proxy.newProxyInstance(
            Connection.class.getClassLoader(),
            new Class<?>[] {Connection.class},
            (proxy, method, arguments) -> {
              try {
                return call.on(method, arguments);
              } catch (InvocationTargetException e) {
                throw e.getCause();
              }
            });
  }

  @Test
  void givenSessions_whenOneHasNoConnection_thenItAloneIsToldOf() throws SQLException {
    try (StoreConnection second = storeConnection(connect())) {
      assertThat(second.repository.takeConnectionLock(HEAD)).isTrue();
      assertThat(storeConnection.repository.withoutConnection(Set.of(HEAD))).isEmpty();
      assertThat(storeConnection.repository.withoutConnection(Set.of(HEAD, NEXT)))
          .containsExactly(NEXT);
      assertThat(storeConnection.repository.withoutConnection(Set.of(HEAD, NEXT, "unknown")))
          .as("asked once more, of more")
          .containsExactly(NEXT);
      second.detach();
    }
  }

  @Test
  void givenHeadThatSaidItIsConnected_whenTheLockIsReleased_thenItHoldsOnlyIfItStillIs()
      throws SQLException {
    saidToBeConnected(HEAD);
    try (StoreConnection process = storeConnection(connect())) {
      assertThat(process.repository.takeConnectionLock(HEAD)).isTrue();
      lockWithQueue();
      assertThat(ContendedRequestRunner.handOff(storeConnection.repository, RELEASE, told::add))
          .isTrue();
      assertThat(changed()).containsEntry("owner", OTHER.encoded());
      process.detach();
    }
    lockWithQueue();
    assertThat(ContendedRequestRunner.handOff(storeConnection.repository, RELEASE, told::add))
        .as("passing it over is for the long way")
        .isFalse();
    assertUnchanged(held(OLD, "waiters", 2, "told", 3));
    release();
    assertThat(changed()).containsEntry("owner", THIRD.encoded()).containsEntry("waiters", 1L);
    assertThat(storeConnection.repository.heads("lock", 9))
        .extracting(WaitRow::attempt)
        .containsExactly(OTHER.encoded());
    if (isPostgres()) {
      try (StoreConnection process = storeConnection(connect())) {
        assertThat(process.repository.takeConnectionLock(HEAD)).as("nothing stays tried").isTrue();
        process.detach();
      }
    }
  }

  @Test
  void givenHeadThatNeverSaidItIsConnected_whenTheLockIsReleased_thenItHolds() throws SQLException {
    saidToBeConnected(NEXT);
    lockWithQueue();
    assertThat(ContendedRequestRunner.handOff(storeConnection.repository, RELEASE, told::add))
        .isTrue();
    assertThat(changed()).containsEntry("owner", OTHER.encoded());
    lockWithQueue();
    release();
    assertThat(changed()).containsEntry("owner", OTHER.encoded());
  }

  @Test
  void
      givenWaitersOfWhichNoneIsConnected_whenTheLockIsReleased_thenItIsFree_andTheyKeepTheirPlaces()
          throws SQLException {
    saidToBeConnected(HEAD, NEXT);
    lockWithQueue();
    release();
    assertThat(changed()).containsEntry("used", 0L).containsEntry("waiters", 2L);
    assertThat(ContendedRequestRunner.queueUp(storeConnection.repository, acquire(), told::add))
        .as("a free lock with a queue is for the long way")
        .isNull();
    assertThat(storeConnection.repository.acquireFast(acquire(), () -> now)).isNull();
    assertThat(changed()).containsEntry("used", 0L).containsEntry("waiters", 2L);
  }

  @Test
  void givenSessionWithAConnectionLock_whenRenewed_thenItsRowSaysSo() throws SQLException {
    String id = ATTEMPT.session().value();
    assertThat(storeConnection.repository.takeConnectionLock(id)).isTrue();
    assertThat(storeConnection.repository.renewSession(id, 1, 2, now + MINUTE, 2 * MINUTE, now))
        .isTrue();
    assertThat(storeConnection.repository.session(id).hasConnectionLock()).isTrue();
    assertThat(storeConnection.repository.session(id).ttl()).isEqualTo(2 * MINUTE);
    assertThat(storeConnection.repository.keep(id, 2, 3, MINUTE, false, List.of(), 9)).isNotNull();
    assertThat(storeConnection.repository.session(id).hasConnectionLock()).isTrue();
    assertThat(storeConnection.repository.session(id).ttl()).isEqualTo(MINUTE);
    storeConnection.detach();
    assertThat(storeConnection.repository.keep(id, 3, 4, MINUTE, false, List.of(), 9)).isNotNull();
    assertThat(storeConnection.repository.session(id).hasConnectionLock()).isFalse();
    storeConnection.repository.insertSession("sessionFffff", 1, now, MINUTE + 1, "client");
    assertThat(storeConnection.repository.session("sessionFffff").hasConnectionLock())
        .as("an odd number of microseconds says nothing")
        .isFalse();
  }

  @Test
  void givenOneServerProcessForManyConnections_thenNoConnectionLockIsTaken() throws SQLException {
    Assumptions.assumeTrue(isPostgres());
    // The process id that a pooler gives its clients is not one of the server.
    for (int told : List.of(0, 1)) {
      try (Connection connection = connect()) {
        PostgresLockRepository behind =
            new PostgresLockRepository(
                connection, tables.text, NAMESPACE, session -> false, false, told, true);
        assertThat(behind.takeConnectionLock(HEAD)).isFalse();
        assertThat(behind.withoutConnection(Set.of(HEAD))).containsExactly(HEAD);
      }
    }
  }

  /** A connection that breaks is no process that has ended: it is passed over for a moment. */
  @Test
  void givenWaiterWhoseConnectionBreaks_whenTheLockIsReleased_thenItHoldsAllTheSame()
      throws SQLException, InterruptedException {
    String url = url() + "&namespace=" + PostgresServers.namespace();
    try (LockStore here = JdbcStore.open(url);
        LockStore there = JdbcStore.open(url);
        Connection breaking = connect()) {
      TestSession holder = new TestSession(here, Duration.ofMinutes(1));
      TestSession waiter = new TestSession(there, Duration.ofMinutes(1));
      for (int round = 0; round < 3; round++) {
        AttemptId held = holder.attempt();
        holder.granted("lock", held);
        AttemptId waiting = waiter.attempt();
        assertThat(waiter.acquire("lock", waiting)).isInstanceOf(Reply.Queued.class);
        waiter.hints.clear();
        ConnectionLockProbe.await(url, waiter.id(), true);
        ConnectionLockProbe.breakThat(breaking, waiter.id());
        holder.abandon("lock", held);
        SessionNotification sessionNotification = waiter.hints.poll(20, TimeUnit.SECONDS);
        assertThat(sessionNotification)
            .isInstanceOfSatisfying(
                SessionNotification.HoldGranted.class,
                granted -> assertThat(granted.attempt()).isEqualTo(waiting));
        waiter.abandon("lock", waiting);
        // The first may meet the connection that broke.
        Awaitility.await()
            .atMost(Duration.ofSeconds(20))
            .until(() -> waiter.renew() instanceof Renewal.Renewed);
      }
    }
  }

  private void release() throws SQLException {
    storeConnection.begin(LockRepository.PrefetchTarget.of(RELEASE));
    storeConnection.locks.apply(RELEASE, storeConnection.now());
    storeConnection.commit();
  }
}
