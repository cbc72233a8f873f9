package io.mortise.liquibase;

import io.mortise.DistributedLock;
import io.mortise.Lease;
import io.mortise.LeaseLostException;
import io.mortise.LockClient;
import io.mortise.LockName;
import io.mortise.LockOptions;
import io.mortise.admin.Eviction;
import io.mortise.admin.LockAdmin;
import io.mortise.admin.LockParticipant;
import io.mortise.spi.time.WallClock;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.Collections;
import java.util.Date;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import liquibase.GlobalConfiguration;
import liquibase.Scope;
import liquibase.changelog.ChangeLogHistoryServiceFactory;
import liquibase.configuration.ConfigurationDefinition;
import liquibase.database.Database;
import liquibase.database.jvm.JdbcConnection;
import liquibase.exception.DatabaseException;
import liquibase.exception.LockException;
import liquibase.lockservice.DatabaseChangeLogLock;
import liquibase.lockservice.LockService;
import org.jspecify.annotations.Nullable;

/**
 * The lock of a database's change log, kept in a store of Mortise instead of the table {@code
 * DATABASECHANGELOGLOCK}: a process that dies while it migrates leaves no row behind that would
 * lock out all others. Liquibase finds this class by itself.
 *
 * <p>It is used once a lock client is there: the one given to {@link #use}, or else one that is
 * connected for each run to the URL in {@code mortise.liquibase.url}, a property of the system, an
 * environment variable {@code MORTISE_LIQUIBASE_URL}, or wherever else Liquibase reads its
 * settings. Without either, Liquibase keeps its own table.
 *
 * <p>The lock is named {@code liquibase/URL/SCHEMA}, with the JDBC URL of the database without
 * credentials and parameters. All processes must have the same host in it; else name the lock in
 * {@code mortise.liquibase.name}.
 *
 * <p>When the lease is lost, the connection of Liquibase is aborted, so that no further change set
 * runs. A statement that the database is executing at that moment may still be finished by it.
 *
 * <p>Not for use by several threads at one time, as Liquibase demands of no lock service; {@link
 * #use} and {@link #useNone} are thread-safe.
 */
public final class MortiseLockService implements LockService {
  private static final int PRIORITY = PRIORITY_DEFAULT + 10;

  private static final ConfigurationDefinition<String> URL = setting("url");
  private static final ConfigurationDefinition<String> NAME = setting("name");

  /** Static, since Liquibase creates lock services by their constructor without arguments. */
  private static volatile @Nullable LockClient used;

  /**
   * By the identity of their databases, and static for the same reason: when another run of this
   * JVM ends, Liquibase drops all lock services, and releases by a new one.
   */
  private static final Map<Database, ChangeLogLease> HELD =
      Collections.synchronizedMap(new IdentityHashMap<>());

  private final @Nullable ClientSource given;
  private final InstantSource clock = WallClock.SYSTEM;

  private @Nullable Database database;
  private @Nullable Duration wait;

  /** For Liquibase. */
  public MortiseLockService() {
    this.given = null;
  }

  MortiseLockService(ClientSource given) {
    this.given = given;
  }

  /**
   * Uses this client in all runs of Liquibase in this JVM that begin afterwards. The caller closes
   * it, after the last run.
   */
  public static void use(LockClient client) {
    used = Objects.requireNonNull(client, "client");
  }

  /** Uses no client any more: the URL in {@code mortise.liquibase.url}, if there is one. */
  public static void useNone() {
    used = null;
  }

  private static ConfigurationDefinition<String> setting(String key) {
    return new ConfigurationDefinition.Builder("mortise.liquibase")
        .define(key, String.class)
        .buildTemporary();
  }

  private @Nullable ClientSource source() {
    LockClient client = used;
    if (given != null) {
      return given;
    } else if (client != null) {
      return ClientSource.shared(client);
    }
    String url = URL.getCurrentValue();
    return url == null || url.isBlank() ? null : ClientSource.connecting(url);
  }

  @Override
  public int getPriority() {
    return PRIORITY;
  }

  /** Whether there is a client or a URL, and the database is connected to. */
  @Override
  public boolean supports(Database database) {
    return database.getConnection() instanceof JdbcConnection && source() != null;
  }

  @Override
  public void setDatabase(Database database) {
    this.database = database;
  }

  /**
   * How long {@link #waitForLock} waits; Liquibase's setting {@code changelogLockWaitTimeInMinutes}
   * if it is not set.
   *
   * @param changeLogLockWaitTime in minutes; zero or less tries once
   */
  @Override
  public void setChangeLogLockWaitTime(long changeLogLockWaitTime) {
    this.wait = Duration.ofMinutes(Math.max(0, changeLogLockWaitTime));
  }

  /** Not needed: a waiter is in the lock's queue and does not poll. */
  @Override
  public void setChangeLogLockRecheckTime(long changeLogLockRecheckTime) {}

  /** Whether it was acquired, and neither released nor lost. Does not block. */
  @Override
  public boolean hasChangeLogLock() {
    ChangeLogLease now = HELD.get(database());
    return now != null && now.isHeld();
  }

  /**
   * Waits until this run holds the lock. Returns at once if it does. Blocks.
   *
   * @throws LockException if it could not be acquired in time, with the present holder; if the
   *     store does not answer or refuses; or if this thread is interrupted, whose flag stays set
   */
  @Override
  public void waitForLock() throws LockException {
    Duration time =
        wait != null
            ? wait
            : Duration.ofMinutes(
                Math.max(0, GlobalConfiguration.CHANGELOGLOCK_WAIT_TIME.getCurrentValue()));
    if (!acquire(time)) {
      throw new LockException(
          String.format(
              "Could not acquire the change log lock '%s' within %s min. It is held by %s. Raise"
                  + " liquibase.changelogLockWaitTimeInMinutes, or look at the holder with 'mortise show'.",
              LockName.of(name()),
              time.toMinutes(),
              Stream.of(listLocks())
                  .map(DatabaseChangeLogLock::getLockedBy)
                  .collect(Collectors.joining(", "))));
    }
  }

  /**
   * Tries once. Blocks for one round trip.
   *
   * @return false if another run holds or waits for the lock
   * @throws LockException if the store does not answer or refuses
   */
  @Override
  public boolean acquireLock() throws LockException {
    return acquire(Duration.ZERO);
  }

  private boolean acquire(Duration time) throws LockException {
    if (hasChangeLogLock()) {
      return true;
    }
    giveUpLost();
    // Rows that this connection has read may be stale once the lock is granted.
    rollback();
    ClientSource clients = requireSource();
    LockClient client = connect(clients);
    boolean acquired = false;
    try {
      DistributedLock lock =
          client.lock(name(), LockOptions.DEFAULTS.withLabel("change log of Liquibase"));
      Optional<Lease> lease = time.isZero() ? lock.tryAcquire() : lock.tryAcquire(time);
      if (lease.isPresent()) {
        acquired = true;
        granted(new ChangeLogLease(clients, client, lease.get(), database()));
      }
      return acquired;
    } catch (io.mortise.LockException e) {
      throw new LockException(e.getMessage(), e);
    } catch (IllegalStateException e) {
      // A static survives the application context, and with it the client, as after a live reload.
      throw new LockException(
          e.getMessage() + " Give an open one to MortiseLockService.use, or call useNone().", e);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new LockException(
          "Interrupted while waiting for lock '" + LockName.of(name()) + "'.", e);
    } finally {
      if (!acquired) {
        clients.giveBack(client);
      }
    }
  }

  private void granted(ChangeLogLease lease) throws LockException {
    Database held = database();
    HELD.put(held, lease);
    lease.closeAfterConnection(() -> HELD.get(held) == lease, () -> HELD.remove(held, lease));
    boolean ready = false;
    try {
      rollback();
      Scope.getCurrentScope()
          .getSingleton(ChangeLogHistoryServiceFactory.class)
          .getChangeLogService(database())
          .reset();
      database().setCanCacheLiquibaseTableInfo(true);
      ready = true;
    } finally {
      if (!ready) {
        releaseLock();
      }
    }
  }

  private void giveUpLost() {
    try {
      releaseLock();
    } catch (LockException e) {
      // The end of its connection told the run that lost it.
    }
  }

  /**
   * Releases the lock. Does nothing if it is not held. Blocks for one round trip.
   *
   * @throws LockException if the lease was lost before; the lock is given up all the same
   */
  @Override
  public void releaseLock() throws LockException {
    ChangeLogLease now = HELD.remove(database());
    if (now == null) {
      return;
    }
    database().setCanCacheLiquibaseTableInfo(false);
    try {
      now.close();
    } catch (LeaseLostException e) {
      throw new LockException(e.getMessage(), e);
    }
  }

  /**
   * The present holder, if there is one. Blocks for one round trip.
   *
   * @throws LockException if the store does not answer
   */
  @Override
  public DatabaseChangeLogLock[] listLocks() throws LockException {
    Instant now = clock.instant();
    return withHolders(
            (admin, holder) ->
                new DatabaseChangeLogLock(1, Date.from(now.minus(holder.since())), text(holder)))
        .toArray(new DatabaseChangeLogLock[0]);
  }

  /**
   * Has an operator end the hold of the present holder, as {@code liquibase release-locks} does.
   * The holder is told, and the lock stays shut until the holder certainly knows. A dead holder's
   * lock is free after its TTL without this. Blocks for some round trips.
   *
   * @throws LockException if the store does not answer, or cannot evict
   */
  @Override
  public void forceReleaseLock() throws LockException {
    List<?> unused =
        withHolders((admin, holder) -> admin.evict(name(), holder.attempt(), Eviction.CLOSE));
  }

  private interface HolderFunction<T> {
    T apply(LockAdmin admin, LockParticipant holder);
  }

  private <T> List<T> withHolders(HolderFunction<T> function) throws LockException {
    ClientSource clients = requireSource();
    LockClient client = connect(clients);
    try {
      LockAdmin admin = client.admin();
      return admin.find(name()).stream()
          .flatMap(lock -> lock.holders().stream())
          .map(holder -> function.apply(admin, holder))
          .toList();
    } catch (io.mortise.LockException | IllegalStateException e) {
      throw new LockException(e.getMessage(), e);
    } finally {
      clients.giveBack(client);
    }
  }

  private static String text(LockParticipant holder) {
    LockParticipant.ClientInfo client = holder.client();
    return client == null
        ? "a process whose session is over"
        : (client.host() + ":" + client.pid() + " " + client.name()).strip();
  }

  /** Keeps a lock that is held: only {@link #releaseLock} gives it up. */
  @Override
  public void reset() {}

  /** There is no table to make. */
  @Override
  public void init() {}

  /** There is no table to drop. */
  @Override
  public void destroy() {}

  private Database database() {
    return Objects.requireNonNull(database, "setDatabase was not called");
  }

  private ClientSource requireSource() throws LockException {
    ClientSource clients = source();
    if (clients == null) {
      throw new LockException(
          "There is no lock client for Liquibase any more. Call MortiseLockService.use, or set"
              + " mortise.liquibase.url.");
    }
    return clients;
  }

  private static LockClient connect(ClientSource clients) throws LockException {
    try {
      return clients.take();
    } catch (io.mortise.LockException | IllegalArgumentException e) {
      throw new LockException(e.getMessage(), e);
    }
  }

  private String name() {
    String chosen = NAME.getCurrentValue();
    if (chosen != null && !chosen.isBlank()) {
      return chosen;
    }
    String schema = database().getLiquibaseSchemaName();
    return ChangeLogLockName.of(
        database().getConnection().getURL(),
        schema == null ? database().getDefaultSchemaName() : schema);
  }

  private void rollback() throws LockException {
    try {
      database().rollback();
    } catch (DatabaseException e) {
      throw new LockException(e);
    }
  }
}
