package io.mortise.redis.plain;

import io.mortise.LockName;
import io.mortise.StoreUnfitException;
import io.mortise.admin.LockInfo;
import io.mortise.admin.LockQuery;
import io.mortise.admin.Page;
import io.mortise.redis.codec.FactCodec;
import io.mortise.redis.plain.KeyLayout.CompareAndDelete;
import io.mortise.redis.transport.ErrorReplyException;
import io.mortise.redis.transport.LuaScript;
import io.mortise.redis.transport.RedisTransport;
import io.mortise.spi.Capability;
import io.mortise.spi.Fact;
import io.mortise.spi.SessionNotification;
import io.mortise.spi.SessionSpec;
import io.mortise.spi.StoreProfile;
import io.mortise.spi.StoreReport;
import io.mortise.spi.StoreSession;
import io.mortise.spi.time.Ticker;
import io.mortise.support.expiring.ExpiringKeySession;
import io.mortise.support.expiring.ExpiringKeyStore;
import java.time.Duration;
import java.util.List;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * Locks that are just a key with an expiry, as many clients in many languages write them. All
 * exclude each other: the writer of the key has the lock.
 *
 * <p>Such a key has no queue, tokens, sharing or record, and the store does not emulate them. A
 * session exists only on this side, see {@link ExpiringKeySession}. Facts have keys of their own,
 * which no other program reads. Thread-safe.
 */
public final class PlainStore extends ExpiringKeyStore {
  private static final Set<Capability> CAPABILITIES = Set.of(Capability.FACTS);

  private static final Duration MIN_TTL = Duration.ofMillis(100);

  private static final LuaScript FACT_SCRIPT =
      LuaScript.beside(PlainStore.class, "/io/mortise/redis/fact.lua");

  /** A key whose expiry has passed is gone from the next millisecond on. */
  private static final Duration EXPIRY_LAG = Duration.ofMillis(2);

  private final RedisTransport ops;
  private final RedisTransport control;
  private final Runnable closing;
  private final Ticker ticker;
  private final PlainOptions options;
  private final StoreProfile profile;
  private final CommandExecutor requests;
  private final CommandExecutor renewals;
  private final KeyspaceListener listener;
  private final PlainKeys keys;

  /**
   * Probes the abilities of the server. Blocks.
   *
   * @param ops for requests; closed with the store, as the others are
   * @param control for renewals and inspection
   * @param closing closes resources that both share
   * @param database the number of the connections' database
   * @throws io.mortise.LockException if the server does not answer, or refuses
   */
  public PlainStore(
      RedisTransport ops,
      RedisTransport control,
      Runnable closing,
      PlainOptions options,
      int database,
      String display,
      Ticker ticker) {
    this.ops = ops;
    this.control = control;
    this.closing = closing;
    this.ticker = ticker;
    this.options = options;
    this.profile = new StoreProfile(display, CAPABILITIES, options.timeout(), MIN_TTL, EXPIRY_LAG);
    this.requests = new CommandExecutor(ops, options.timeout(), display);
    this.renewals = new CommandExecutor(control, options.timeout(), display);
    for (LuaScript script : options.layout().scripts()) {
      must(RedisCommand.of("SCRIPT", "LOAD", script.text()));
    }
    this.keys =
        new PlainKeys(
            profile,
            options,
            options.layout() == KeyLayout.STRING ? probe() : CompareAndDelete.SCRIPT,
            requests,
            renewals);
    this.listener = new KeyspaceListener(ops, options.layout(), publishesKeys() ? database : -1);
  }

  private void must(RedisCommand command) {
    try {
      renewals.call(command).join();
    } catch (RuntimeException e) {
      CommandExecutor.CommandFailure failure = CommandExecutor.failure(e).orElse(null);
      if (failure == null || !(failure.cause() instanceof ErrorReplyException)) {
        throw failure == null ? e : failure.unavailable();
      }
      throw new StoreUnfitException(
          "The server refused %s (store=%s): %s. Allow it to this user, or use another server."
              .formatted(command.words().get(0), this, failure.cause().getMessage()),
          failure.cause());
    }
  }

  /** Tries each command: the versions of servers that resemble Redis tell little. */
  private CompareAndDelete probe() {
    String nobody = options.prefix() + "mortise:probe:" + UUID.randomUUID();
    for (CompareAndDelete way : List.of(CompareAndDelete.DELEX, CompareAndDelete.DELIFEQ)) {
      if (answers(KeyLayout.STRING.release(nobody, "x", way))) {
        return way;
      }
    }
    return CompareAndDelete.SCRIPT;
  }

  private boolean answers(RedisCommand command) {
    try {
      return renewals.call(command).join() != null;
    } catch (RuntimeException e) {
      return false;
    }
  }

  /** Whether the server publishes key events. */
  private boolean publishesKeys() {
    try {
      Object answer =
          renewals.call(RedisCommand.of("CONFIG", "GET", "notify-keyspace-events")).join();
      return KeyspaceListener.isEnough(String.valueOf(answer));
    } catch (RuntimeException e) {
      // The user may not read the setting; then there are no hints.
      return false;
    }
  }

  @Override
  public StoreProfile profile() {
    return profile;
  }

  CommandExecutor renewals() {
    return renewals;
  }

  PlainKeys keys() {
    return keys;
  }

  PlainOptions options() {
    return options;
  }

  @Override
  public StoreSession open(SessionSpec spec, Consumer<SessionNotification> hints) {
    return new PlainSession(keys, listener, ticker, spec, hints);
  }

  @Override
  protected String inServer(LockName name) {
    return "the key '" + keys.key(name) + "'";
  }

  @Override
  public CompletionStage<Fact> readFact(LockName name) {
    return fact(name, FactCodec.READ).thenApply(FactCodec::fact);
  }

  @Override
  public CompletionStage<Long> replaceFact(
      LockName name, long version, String content, Duration keep) {
    return fact(name, FactCodec.replacement(version, content, keep)).thenApply(FactCodec::version);
  }

  private CompletionStage<@Nullable Object> fact(LockName name, List<String> args) {
    return requests.call(RedisCommand.of(FACT_SCRIPT, List.of(keys.factKey(name)), args));
  }

  @Override
  public CompletionStage<Page<LockInfo>> inspect(LockQuery query) {
    if (query.name() == null && options.prefix().isEmpty()) {
      return refused(
          "cannot tell locks from other keys: look at one by its name, or give its keys a prefix");
    }
    return new PlainScan(this).inspect(query);
  }

  @Override
  public CompletionStage<StoreReport> examine() {
    return CompletableFuture.completedFuture(
        StoreReport.about("redis-plain")
            .note(
                "token",
                "none",
                "Nothing can refuse a late holder: for double work that is a waste, not for double work that does harm. The"
                    + " server's own settings are not looked at here.",
                "When all clients use Mortise, move to redis://, and let mortise doctor look at that.")
            .build());
  }

  @Override
  public void close() {
    ops.close();
    control.close();
    closing.run();
  }

  @Override
  public String toString() {
    return profile.display();
  }
}
