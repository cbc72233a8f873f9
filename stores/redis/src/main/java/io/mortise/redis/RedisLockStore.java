package io.mortise.redis;

import io.mortise.LockName;
import io.mortise.StoreUnavailableException;
import io.mortise.StoreUnfitException;
import io.mortise.admin.Eviction;
import io.mortise.admin.LockInfo;
import io.mortise.admin.LockQuery;
import io.mortise.admin.Page;
import io.mortise.admin.SessionInfo;
import io.mortise.redis.codec.FactCodec;
import io.mortise.redis.codec.KeySpace;
import io.mortise.redis.codec.LockCodec;
import io.mortise.redis.command.BoundedCaller;
import io.mortise.redis.command.ScanPager.FoundKeys;
import io.mortise.redis.transport.ErrorReplyException;
import io.mortise.redis.transport.RedisReplies;
import io.mortise.redis.transport.RedisTransport;
import io.mortise.redis.transport.TransportFactory;
import io.mortise.spi.AttemptId;
import io.mortise.spi.Capability;
import io.mortise.spi.Fact;
import io.mortise.spi.LockStore;
import io.mortise.spi.Reply;
import io.mortise.spi.Request;
import io.mortise.spi.ServerIncarnation;
import io.mortise.spi.SessionId;
import io.mortise.spi.SessionNotification;
import io.mortise.spi.SessionSpec;
import io.mortise.spi.SessionVerdict;
import io.mortise.spi.StoreProfile;
import io.mortise.spi.StoreReport;
import io.mortise.spi.StoreSession;
import io.mortise.spi.time.Ticker;
import java.time.Duration;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CompletionStage;
import java.util.function.BooleanSupplier;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * Locks in one Redis server. Operations on locks travel on one connection, renewals and inspection
 * on another, so that no backlog delays a renewal. The steps themselves are Lua scripts; this class
 * only sends them.
 */
final class RedisLockStore implements LockStore {
  static final Duration MIN_TTL = Duration.ofMillis(100);

  /** A key whose expiry has passed is gone from the next millisecond on. */
  static final Duration EXPIRY_LAG = Duration.ofMillis(2);

  /** A little less than the interval at which clients ask to sweep. */
  private static final Duration SWEEP_PAUSE = Duration.ofSeconds(50);

  private final RedisConnections connections;
  private final boolean replicated;
  private final ScriptPipeline pipeline;
  private final StoreClock clock;
  private final Ticker ticker;
  private final StoreProfile profile;
  private final RedisOptions options;
  private final KeySpace keys;
  private final LockScan scan;
  private final RedisSurvey survey;

  /** Calls on the connection for renewals. */
  private final BoundedCaller caller;

  private final IdleRecordTrimmer idleRecordTrimmer = new IdleRecordTrimmer(this);
  private volatile @Nullable ServerIncarnation incarnation;

  /**
   * Uses servers that {@link ServerPreflight} has checked.
   *
   * @param countsListeners whether the server can tell if an inbox has a subscriber
   */
  RedisLockStore(
      RedisConnections connections,
      RedisOptions options,
      String display,
      Replication replication,
      KeySpace keys,
      StoreClock clock,
      Ticker ticker,
      boolean countsListeners) {
    this.connections = replication.isRequired() ? connections.waitingFor(replication) : connections;
    this.replicated = replication.isRequired();
    this.options = options;
    this.keys = keys;
    this.clock = clock;
    this.ticker = ticker;
    this.pipeline =
        new ScriptPipeline(
            this.connections.ops(), clock, keys, options.retention(), options.timeout(), ticker);
    this.scan = new LockScan(this, keys);
    this.survey = new RedisSurvey(List.of(this), bucket -> "");
    this.caller = new BoundedCaller(this.connections.control(), options.timeout(), display);
    EnumSet<Capability> capabilities = EnumSet.allOf(Capability.class);
    if (!countsListeners) {
      capabilities.remove(Capability.SKIPS_DISCONNECTED);
    }
    this.profile = new StoreProfile(display, capabilities, options.timeout(), MIN_TTL, EXPIRY_LAG);
  }

  static RedisLockStore connect(RedisTarget target, Ticker ticker) {
    return open(
        RedisConnections.connect(target, ticker),
        target.options(),
        target.display(),
        target.replication(),
        ticker);
  }

  static RedisLockStore over(
      TransportFactory transports, String display, RedisOptions options, Ticker ticker) {
    return open(
        RedisConnections.over(transports, display), options, display, Replication.NONE, ticker);
  }

  private static RedisLockStore open(
      RedisConnections connections,
      RedisOptions options,
      String display,
      Replication replication,
      Ticker ticker) {
    try {
      ServerPreflight check = new ServerPreflight(connections.control(), options, display, ticker);
      StoreClock clock = check.run();
      KeySpace keys = new KeySpace(options.prefix());
      RedisLockStore store =
          new RedisLockStore(connections, options, display, replication, keys, clock, ticker, true);
      store.incarnation = check.incarnation();
      return store;
    } catch (RuntimeException e) {
      connections.ops().close();
      connections.control().close();
      connections.closing().run();
      throw e;
    }
  }

  @Override
  public StoreProfile profile() {
    return profile;
  }

  @Override
  public @Nullable ServerIncarnation incarnation() {
    return incarnation;
  }

  boolean isStrict() {
    return options.strictExpiry();
  }

  /** The connection for renewals and inspection. */
  RedisTransport control() {
    return connections.control();
  }

  KeySpace keys() {
    return keys;
  }

  StoreClock clock() {
    return clock;
  }

  @Override
  public StoreSession open(SessionSpec spec, Consumer<SessionNotification> hints) {
    return new RedisSession(this, ticker, spec, hints);
  }

  ReconnectListeners reconnects() {
    return connections.reconnects();
  }

  /** Whether a grant counts only once replicas have it, so that a push must be confirmed. */
  boolean isReplicated() {
    return replicated;
  }

  void subscribe(SessionId session, Consumer<String> listener) {
    connections.ops().execute(() -> connections.ops().subscribe(keys.inbox(session), listener));
  }

  /** Whether messages published to the session's inbox reach this process now. */
  boolean isSubscribed(SessionId session) {
    return connections.ops().isSubscribed(keys.inbox(session));
  }

  /** Whether the server denies this process the session's inbox. */
  boolean isDenied(SessionId session) {
    return connections.ops().isDenied(keys.inbox(session));
  }

  void unsubscribe(SessionId session) {
    connections.ops().execute(() -> connections.ops().unsubscribe(keys.inbox(session)));
  }

  /** Sends a request on a lock, and passes the script's answer to the sink. */
  void submit(Request request, Consumer<Reply> sink) {
    LockName name = request.name();
    String key = keys.lock(name);
    pipeline.submit(
        request, key, LockCodec.encode(request), sink(request.attempt(), name, key, sink));
  }

  /** As {@link #submit}, but may wait for another operation to travel with. */
  void submitLater(Request request, Consumer<Reply> sink) {
    LockName name = request.name();
    String key = keys.lock(name);
    pipeline.submitLater(
        request, key, LockCodec.encode(request), sink(request.attempt(), name, key, sink));
  }

  private ScriptPipeline.OperationCallback sink(
      AttemptId attempt, LockName name, String key, Consumer<Reply> sink) {
    return new ScriptPipeline.OperationCallback() {
      @Override
      public void answered(String text) {
        if (text.startsWith("X") && text.contains("READONLY")) {
          // The server has become a replica. The transport finds the new primary.
          connections.ops().reset();
        }
        long late = LockCodec.lateAt(text);
        if (late > 0) {
          clock.learn(ticker.nanos(), ticker.nanos(), late);
        }
        Reply reply;
        try {
          reply = LockCodec.decode(attempt, name, key, profile.display(), text);
        } catch (RuntimeException e) {
          reply = new Reply.Failed(attempt, true, e);
        }
        if (reply instanceof Reply.Refused refused
            && refused.why() == Reply.RefusalReason.STORE_FULL) {
          idleRecordTrimmer.begin();
        }
        sink.accept(reply);
      }

      @Override
      public void failed(boolean mayHaveRun, Throwable cause) {
        sink.accept(new Reply.Failed(attempt, mayHaveRun, caller.unavailable(mayHaveRun, cause)));
      }
    };
  }

  @Override
  public CompletionStage<SessionVerdict> judge(SessionId session) {
    return call(Script.JUDGE, List.of(keys.session(session)), List.of())
        .thenApply(
            answer ->
                answer instanceof String text
                    ? new SessionVerdict.Alive(
                        LockCodec.number(text, 0, 16),
                        Duration.ofMillis(LockCodec.number(text, 16, text.length())))
                    : new SessionVerdict.SessionEnded());
  }

  @Override
  public CompletionStage<Reply.Ended> evict(LockName name, AttemptId attempt, Eviction how) {
    CompletableFuture<Reply.Ended> result = new CompletableFuture<>();
    String key = keys.lock(name);
    Consumer<Reply> done =
        reply -> {
          if (reply instanceof Reply.Ended ended) {
            result.complete(ended);
          } else {
            result.completeExceptionally(
                reply instanceof Reply.Failed failed
                    ? failed.cause()
                    : new StoreUnavailableException(
                        "Redis refused to evict (store=" + profile.display() + "): " + reply));
          }
        };
    pipeline.submit(null, key, LockCodec.encode(attempt, how), sink(attempt, name, key, done));
    return result;
  }

  @Override
  public CompletionStage<Boolean> reopen(LockName name) {
    return count(keys.lock(name), "o").thenApply(opened -> opened > 0);
  }

  @Override
  public CompletionStage<Fact> readFact(LockName name) {
    return call(Script.FACT, List.of(keys.fact(name)), FactCodec.READ).thenApply(FactCodec::fact);
  }

  @Override
  public CompletionStage<Long> replaceFact(
      LockName name, long version, String content, Duration keep) {
    return call(
            Script.FACT, List.of(keys.fact(name)), FactCodec.replacement(version, content, keep))
        .thenApply(FactCodec::version);
  }

  @Override
  public CompletionStage<Page<LockInfo>> inspect(LockQuery query) {
    return query.isSummary() ? survey.locks(query) : scan.inspect(query);
  }

  @Override
  public CompletionStage<Page<SessionInfo>> sessions(@Nullable String cursor, int limit) {
    return survey.sessions(cursor, limit);
  }

  @Override
  public CompletionStage<Integer> sweep(int budget) {
    return scan.sweep(budget);
  }

  /** Lets one process of all sweep: a sweep walks over the keys of every process. */
  @Override
  public CompletionStage<Boolean> claimSweep() {
    String pause = Long.toString(SWEEP_PAUSE.toMillis());
    return caller
        .call(
            () -> connections.control().call("SET", keys.prefix() + "sweep", "", "NX", "PX", pause))
        .thenApply("OK"::equals);
  }

  /** Ends the holds of dead sessions on these locks, each lock in a step of its own. */
  CompletionStage<Integer> sweep(List<String> records) {
    CompletableFuture<Integer> sum = CompletableFuture.completedFuture(0);
    for (String record : records) {
      CompletableFuture<Integer> one =
          count(record, isStrict() ? "sb" : "s").exceptionally(this::passOver);
      sum = sum.thenCombine(one, Integer::sum);
    }
    return sum;
  }

  /** A foreign value under our prefix does not end a sweep. */
  private int passOver(Throwable failure) {
    if (RedisReplies.unwrap(failure) instanceof StoreUnfitException) {
      return 0;
    }
    throw new CompletionException(failure);
  }

  /** Sends an operation whose answer is a count. */
  private CompletableFuture<Integer> count(String record, String operation) {
    CompletableFuture<Integer> count = new CompletableFuture<>();
    pipeline.submit(
        null,
        record,
        operation,
        new ScriptPipeline.OperationCallback() {
          @Override
          public void answered(String text) {
            if (text.startsWith("#")) {
              count.complete((int) LockCodec.number(text, 1, 8));
            } else {
              count.completeExceptionally(
                  LockCodec.trouble(
                      keys.nameOf(record), record, profile.display(), text.substring(1)));
            }
          }

          @Override
          public void failed(boolean mayHaveRun, Throwable cause) {
            count.completeExceptionally(caller.unavailable(mayHaveRun, cause));
          }
        });
    return count;
  }

  /**
   * Runs a script on the connection for renewals. Fails with {@link StoreUnavailableException} if
   * it is not answered in time; a connection that does not answer is dropped.
   */
  CompletionStage<@Nullable Object> call(Script script, List<String> keys, List<String> args) {
    List<String> words = new ArrayList<>(3 + keys.size() + args.size());
    List<String> guards = this.keys.guards();
    words.addAll(List.of("EVALSHA", script.sha, Integer.toString(keys.size() + guards.size())));
    words.addAll(keys);
    words.addAll(guards);
    words.addAll(args);
    String[] command = words.toArray(String[]::new);
    // Earlier than the timeout: the request has failed visibly by then, with the last refusal as
    // reason.
    long until = ticker.nanos() + options.timeout().toNanos() * 2 / 3;
    return caller.call(() -> call(script, command, until, 0));
  }

  private CompletionStage<@Nullable Object> call(
      Script script, String[] command, long until, int refusals) {
    RedisTransport control = connections.control();
    return send(script, command)
        .exceptionallyCompose(
            failure -> {
              if (RedisReplies.unwrap(failure) instanceof ErrorReplyException error) {
                Duration later = control.retryAfter(error, refusals);
                if (error.is("NOSCRIPT")) {
                  var unused = control.call("SCRIPT", "LOAD", script.text);
                  return send(script, command);
                } else if (later != null && ticker.nanos() + later.toNanos() - until < 0) {
                  CompletableFuture<@Nullable Object> again = new CompletableFuture<>();
                  control.schedule(
                      () ->
                          call(script, command, until, refusals + 1)
                              .whenComplete(
                                  (answer, trouble) -> {
                                    if (trouble == null) {
                                      again.complete(answer);
                                    } else {
                                      again.completeExceptionally(trouble);
                                    }
                                  }),
                      later);
                  return again;
                }
              }
              return CompletableFuture.failedStage(failure);
            });
  }

  private CompletionStage<@Nullable Object> send(Script script, String[] command) {
    RedisTransport control = connections.control();
    // A fact must be on the replicas before it is returned.
    boolean waits = script == Script.RENEW || script == Script.FACT;
    return waits ? control.callRenewing(command) : control.call(command);
  }

  @Override
  public CompletionStage<StoreReport> examine() {
    return new RedisSettingsReport(
            words -> caller.call(() -> connections.control().call(words)), connections.sentinel())
        .report();
  }

  CompletionStage<FoundKeys> scanKeys(String cursor, String pattern, int count) {
    return caller
        .call(() -> connections.control().call(FoundKeys.command(cursor, pattern, count)))
        .thenApply(FoundKeys::parse);
  }

  /**
   * Pipelines commands on the connection for renewals. The answer for a key of another type is
   * null.
   */
  CompletionStage<List<@Nullable Object>> askTogether(List<String[]> commands) {
    return caller.call(
        () -> {
          CompletionStage<List<@Nullable Object>> all =
              CompletableFuture.completedFuture(new ArrayList<>());
          for (String[] command : commands) {
            all =
                all.thenCombine(
                    connections.control().call(command).exceptionallyCompose(this::noneOfType),
                    (list, answer) -> {
                      list.add(answer);
                      return list;
                    });
          }
          return all;
        });
  }

  private CompletionStage<@Nullable Object> noneOfType(Throwable failure) {
    return RedisReplies.unwrap(failure) instanceof ErrorReplyException error
            && error.is("WRONGTYPE")
        ? CompletableFuture.completedFuture(null)
        : CompletableFuture.failedFuture(failure);
  }

  @Override
  public void helpWhileWaiting(BooleanSupplier done, Duration longest) {
    pipeline.helpWhileWaiting(done);
  }

  @Override
  public void close() {
    connections.ops().close();
    pipeline.close();
    connections.control().close();
    connections.closing().run();
  }

  @Override
  public String toString() {
    return profile.display();
  }
}
