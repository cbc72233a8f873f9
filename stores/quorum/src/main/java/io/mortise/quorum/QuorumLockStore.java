package io.mortise.quorum;

import io.mortise.LockName;
import io.mortise.StoreUnfitException;
import io.mortise.UnsupportedByStoreException;
import io.mortise.admin.Eviction;
import io.mortise.admin.LockInfo;
import io.mortise.admin.LockQuery;
import io.mortise.admin.Page;
import io.mortise.internal.runtime.DaemonThreads;
import io.mortise.spi.AttemptId;
import io.mortise.spi.Capability;
import io.mortise.spi.LockStore;
import io.mortise.spi.Reply;
import io.mortise.spi.SessionId;
import io.mortise.spi.SessionNotification;
import io.mortise.spi.SessionSpec;
import io.mortise.spi.SessionVerdict;
import io.mortise.spi.StoreProfile;
import io.mortise.spi.StoreReport;
import io.mortise.spi.StoreSession;
import io.mortise.spi.time.DurationText;
import io.mortise.spi.time.Ticker;
import java.time.Duration;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ScheduledFuture;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.BooleanSupplier;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.stream.Collectors;

/**
 * Locks that a majority of members grants. A request becomes a round of requests to the members
 * ({@link QuorumSession}). Each member judges sessions for itself, and its verdict counts in that
 * member only. Inspection and eviction go to all ({@link QuorumInspector}).
 */
final class QuorumLockStore implements LockStore {

  /**
   * The capabilities that a quorum can have. No queue: there is no majority order, as the members'
   * heads would differ. No permits: majorities cannot count them. No narrowing: a hold that only
   * some members have narrowed would be in neither mode.
   */
  private static final Set<Capability> POSSIBLE =
      EnumSet.complementOf(
          EnumSet.of(
              Capability.QUEUE,
              Capability.PERMITS,
              Capability.DOWNGRADE,
              Capability.VARIABLE_TTL,
              Capability.SKIPS_DISCONNECTED,
              Capability.CALL_BACK,
              Capability.FACTS));

  /** How far above the members' clocks tokens are first requested, and the limit, in µs. */
  private static final long LEAD = 20_000;

  private static final long MOST_LEAD = 200_000;

  private final List<Member> members;
  private final QuorumRules rules;
  private final Ticker ticker;
  private final QuorumOptions options;
  private final List<LockStore> own;
  private final StoreProfile profile;
  private final QuorumInspector quorumInspector;
  private final AtomicLong lead = new AtomicLong(LEAD);
  private final ScheduledThreadPoolExecutor timer;
  private volatile boolean closed;

  QuorumLockStore(
      List<Member> members,
      QuorumOptions options,
      List<LockStore> own,
      QuorumRules rules,
      Ticker ticker) {
    this.members = List.copyOf(members);
    this.options = options;
    this.own = new ArrayList<>(own);
    this.rules = rules;
    this.ticker = ticker;
    this.profile = profile(members);
    this.quorumInspector = new QuorumInspector(this);
    this.timer = new ScheduledThreadPoolExecutor(1, DaemonThreads.named("mortise-quorum-timer"));
    timer.setRemoveOnCancelPolicy(true);
  }

  static QuorumLockStore over(
      List<LockStore> stores, QuorumOptions options, QuorumRules rules, Ticker ticker) {
    if (stores.size() < QuorumStore.FEWEST || stores.size() > QuorumStore.MOST) {
      throw new IllegalArgumentException(
          "A quorum has %s to %s members, not %s."
              .formatted(QuorumStore.FEWEST, QuorumStore.MOST, stores.size()));
    }
    List<Member> members = new ArrayList<>();
    for (LockStore store : stores) {
      Member member = new Member(members.size(), store.profile().display(), null);
      member.opened(store, ticker.nanos());
      members.add(member);
    }
    return new QuorumLockStore(members, options, List.of(), rules, ticker);
  }

  private static StoreProfile profile(List<Member> members) {
    EnumSet<Capability> common = EnumSet.copyOf(POSSIBLE);
    Duration maxInFlight = Duration.ZERO;
    Duration minTtl = Duration.ofMillis(1);
    Duration expiryLag = Duration.ZERO;
    for (Member member : members) {
      LockStore store = member.store();
      if (store != null) {
        StoreProfile one = store.profile();
        common.retainAll(one.capabilities());
        maxInFlight = longer(maxInFlight, one.maxInFlight());
        minTtl = longer(minTtl, one.minTtl());
        expiryLag = longer(expiryLag, one.expiryLag());
      }
    }
    if (!common.contains(Capability.TOKEN_FLOOR)) {
      // Each member would mint its own: no majority would have one in common.
      common.remove(Capability.TOKEN);
    }
    String display =
        members.stream().map(Member::display).collect(Collectors.joining(", ", "quorum(", ")"));
    return new StoreProfile(display, common, maxInFlight, minTtl, expiryLag);
  }

  private static Duration longer(Duration one, Duration other) {
    return one.compareTo(other) > 0 ? one : other;
  }

  /** Adds a member that could not be reached before. */
  void join(Member member, LockStore store) {
    if (!store.profile().capabilities().containsAll(profile.capabilities())) {
      store.close();
      throw new StoreUnfitException(
          "Member '%s' cannot do what the others can (store=%s). Use members of one kind."
              .formatted(store.profile().display(), this));
    }
    boolean late;
    synchronized (own) {
      late = closed;
      if (!late) {
        own.add(store);
      }
    }
    if (late) {
      store.close();
      return;
    }
    member.opened(store, ticker.nanos());
  }

  List<Member> members() {
    return members;
  }

  int majority() {
    return rules.majority(members.size());
  }

  QuorumRules rules() {
    return rules;
  }

  Ticker ticker() {
    return ticker;
  }

  long timeoutNanos() {
    return options.memberTimeout().toNanos();
  }

  boolean hasTokens() {
    return profile.can(Capability.TOKEN);
  }

  boolean pushes() {
    return profile.can(Capability.PUSH);
  }

  /** Whether a member is known to have forgotten nothing that may still be relied on. */
  boolean mayVote(Member member) {
    return !rules.quarantines()
        || member.hasKeptDataFor(ticker.nanos(), options.quarantine().toNanos());
  }

  /** The reason why a member has no vote, if it has none. */
  String quarantined(Member member) {
    return member.quarantined(ticker.nanos(), options.quarantine().toNanos());
  }

  boolean isClosed() {
    return closed;
  }

  Runnable later(long nanos, Runnable task) {
    if (closed) {
      return () -> {};
    }
    ScheduledFuture<?> future = timer.schedule(task, nanos, TimeUnit.NANOSECONDS);
    return () -> future.cancel(false);
  }

  /**
   * The first token to request: a little above the present clocks of a majority of members, so that
   * these mint the same.
   */
  long floor(long least) {
    if (!profile.can(Capability.TOKEN_FLOOR)) {
      return 0;
    }
    long now = ticker.nanos();
    List<Long> clocks =
        members.stream()
            .map(member -> member.clock(now))
            .filter(clock -> clock != Long.MIN_VALUE)
            .sorted()
            .toList();
    long clock = clocks.isEmpty() ? 0 : clocks.get(Math.min(clocks.size(), majority()) - 1);
    return Math.max(1, Math.max(least, clock + lead.get()));
  }

  /**
   * The first token to request again from members without one in common: above the clock that the
   * fastest will show by then, and further each time.
   */
  long floorAbove(long minted, int ballot) {
    return floor(rules.floorAboveMinted(minted, lead.get() << ballot));
  }

  /** A member's clock was ahead of the floor by that much. */
  void widenLead(long tooLittle) {
    if (tooLittle > 0 && tooLittle < MOST_LEAD / 2) {
      lead.accumulateAndGet(2 * tooLittle + LEAD, Math::max);
    }
  }

  @Override
  public StoreProfile profile() {
    return profile;
  }

  /** A forgotten vote may be relied on for as long as a TTL. */
  @Override
  public void checkTtl(Duration ttl) {
    LockStore.super.checkTtl(ttl);
    Duration quarantine = options.quarantine();
    if (!quarantine.isZero() && quarantine.compareTo(ttl) < 0) {
      throw new IllegalArgumentException(
          "A quarantine of %s is shorter than the session TTL of %s (store=%s). Give quarantine= at least the longest TTL of any client, or 0s if no member ever forgets what it answered."
              .formatted(
                  DurationText.formatExact(quarantine), DurationText.formatExact(ttl), this));
    }
  }

  @Override
  public StoreSession open(SessionSpec spec, Consumer<SessionNotification> hints) {
    return new QuorumSession(this, spec, hints);
  }

  @Override
  public CompletionStage<SessionVerdict> judge(SessionId session) {
    return quorumInspector.judge(session);
  }

  @Override
  public CompletionStage<Page<LockInfo>> inspect(LockQuery query) {
    return quorumInspector.inspect(query);
  }

  @Override
  public CompletionStage<Reply.Ended> evict(LockName name, AttemptId attempt, Eviction how) {
    return quorumInspector.evict(name, attempt, how);
  }

  @Override
  public CompletionStage<Boolean> reopen(LockName name) {
    return quorumInspector.reopen(name);
  }

  @Override
  public UnsupportedByStoreException factsRefusal() {
    return new UnsupportedByStoreException(
        "Store '%s' keeps nothing but locks (FACTS), as its members have no version of a text in common. For once, latches and barriers open a second client, on jdbc:, redis: or zk:."
            .formatted(profile.display()));
  }

  @Override
  public CompletionStage<Integer> sweep(int budget) {
    return quorumInspector.sweep(budget);
  }

  @Override
  public CompletionStage<Boolean> claimSweep() {
    return quorumInspector.claimSweep();
  }

  @Override
  public CompletionStage<StoreReport> examine() {
    return quorumInspector.examine(options.quarantine());
  }

  @Override
  public void helpWhileWaiting(BooleanSupplier done, Duration longest) {
    Duration each = longest.dividedBy(members.size());
    for (Member member : members) {
      LockStore store = member.store();
      if (store != null) {
        store.helpWhileWaiting(done, each);
      }
    }
  }

  @Override
  public void close() {
    List<LockStore> last;
    synchronized (own) {
      closed = true;
      last = List.copyOf(own);
      own.clear();
    }
    timer.shutdownNow();
    last.forEach(LockStore::close);
  }

  @Override
  public String toString() {
    return profile.display();
  }

  /** A step of an operator, as a question to each reachable member. */
  <T> List<MemberQuery.MemberCall<T>> questions(Function<LockStore, CompletionStage<T>> question) {
    List<MemberQuery.MemberCall<T>> memberCalls = new ArrayList<>();
    for (Member member : members) {
      if (member.store() != null) {
        memberCalls.add(
            new MemberQuery.MemberCall<>(
                member, () -> question.apply(Objects.requireNonNull(member.store()))));
      }
    }
    return memberCalls;
  }
}
