package io.mortise.quorum;

import io.mortise.LockException;
import io.mortise.LockName;
import io.mortise.StoreUnavailableException;
import io.mortise.UnsupportedByStoreException;
import io.mortise.admin.Eviction;
import io.mortise.admin.LockInfo;
import io.mortise.admin.LockParticipant;
import io.mortise.admin.LockQuery;
import io.mortise.admin.Page;
import io.mortise.spi.AttemptId;
import io.mortise.spi.Capability;
import io.mortise.spi.LockStore;
import io.mortise.spi.Reply;
import io.mortise.spi.Reply.AttemptState;
import io.mortise.spi.Reply.EndReason;
import io.mortise.spi.SessionId;
import io.mortise.spi.SessionVerdict;
import io.mortise.spi.StoreReport;
import io.mortise.spi.time.DurationText;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/** Requests about locks from outside: verdicts on sessions, inspection, and evictions. */
final class QuorumInspector {
  private final QuorumLockStore store;
  private final AtomicInteger sweepNext = new AtomicInteger();

  QuorumInspector(QuorumLockStore store) {
    this.store = store;
  }

  private <T> CompletableFuture<MemberQuery.MemberReplies<T>> gather(
      Function<LockStore, CompletionStage<T>> question) {
    return MemberQuery.ask(store.questions(question), store.members().size(), store.timeoutNanos());
  }

  private <T> MemberQuery.MemberReplies<T> enough(MemberQuery.MemberReplies<T> memberReplies) {
    checkEnough(memberReplies.answers().size(), memberReplies.failures());
    return memberReplies;
  }

  private void checkEnough(int answered, List<Throwable> failures) {
    if (answered < store.majority()) {
      for (Throwable failure : failures) {
        if (failure instanceof LockException own && !(own instanceof StoreUnavailableException)) {
          throw own;
        }
      }
      throw QuorumErrors.unavailable(
          "Only %s of %s members answered (store=%s)."
              .formatted(answered, store.members().size(), store),
          failures.isEmpty() ? null : failures.get(0));
    }
  }

  /**
   * Each member judges for itself, and its verdict counts in that member only: see {@link
   * Member#hasEnded}. One verdict of death is enough for the answer. A hold that a session left
   * behind in one member must end even though the session lives in others.
   */
  CompletionStage<SessionVerdict> judge(SessionId session) {
    return gather(member -> member.judge(session))
        .thenApply(
            memberReplies -> {
              boolean ended = false;
              SessionVerdict.Alive alive = null;
              for (Map.Entry<Member, SessionVerdict> answer : memberReplies.answers().entrySet()) {
                if (answer.getValue() instanceof SessionVerdict.Alive one) {
                  alive = alive == null || one.left().compareTo(alive.left()) > 0 ? one : alive;
                } else {
                  answer.getKey().proveEnded(session);
                  ended = true;
                }
              }
              if (ended) {
                return new SessionVerdict.SessionEnded();
              } else if (alive != null) {
                return alive;
              }
              enough(memberReplies);
              throw new StoreUnavailableException("No member knows (store=" + store + ").");
            });
  }

  /** The report of each member, under its name. */
  CompletionStage<StoreReport> examine(Duration quarantine) {
    return gather(LockStore::examine)
        .thenApply(
            memberReplies -> {
              boolean redis =
                  enough(memberReplies).answers().values().stream()
                      .allMatch(one -> one.mode().startsWith("redis/"));
              boolean forgetful =
                  memberReplies.answers().values().stream()
                      .anyMatch(one -> redis && !one.mode().equals("redis/always"));
              StoreReport.Builder report = StoreReport.about(redis ? "quorum" : "");
              if (forgetful && quarantine.isZero()) {
                report.weak(
                    "quarantine",
                    "0s",
                    "A member that was restarted without what it knew votes at once: two may hold.",
                    "Set it to the longest TTL of any client at least.",
                    "server-crash",
                    "power-loss");
              } else {
                report.fine(
                    "quarantine",
                    DurationText.formatExact(quarantine),
                    "So long a member has no vote that may have forgotten what it answered.");
              }
              memberReplies
                  .answers()
                  .forEach(
                      (member, one) ->
                          one.findings().forEach(found -> report.add(named(member, found))));
              return report.build();
            });
  }

  private static StoreReport.Finding named(Member member, StoreReport.Finding found) {
    return new StoreReport.Finding(
        found.grade(),
        member.display() + " " + found.id(),
        found.value(),
        found.meaning(),
        found.remedy(),
        // The other members make up for one member's settings, except for the quarantine.
        Set.of());
  }

  // ---- Inspect ----

  CompletionStage<Page<LockInfo>> inspect(LockQuery query) {
    if (query.name() == null) {
      return page(query);
    }
    return gather(member -> member.inspect(query))
        .thenApply(
            memberReplies -> {
              List<LockInfo> views = new ArrayList<>();
              enough(memberReplies).answers().values().forEach(page -> views.addAll(page.items()));
              int missing = memberReplies.size() - memberReplies.answers().size();
              return new Page<>(
                  views.isEmpty() ? List.of() : List.of(merged(views, missing)), null);
            });
  }

  /**
   * The position in a listing of all members' locks, as text, at the start of a page.
   *
   * @param failed the members that did not answer in their turn, one bit each
   */
  private record ListCursor(int index, int failed, @Nullable String within) {
    static ListCursor of(@Nullable String cursor) {
      if (cursor == null) {
        return new ListCursor(0, 0, null);
      }
      int comma = cursor.indexOf(',');
      int colon = cursor.indexOf(':');
      return new ListCursor(
          Integer.parseInt(cursor, 0, comma, 10),
          Integer.parseInt(cursor, comma + 1, colon, 10),
          colon == cursor.length() - 1 ? null : cursor.substring(colon + 1));
    }

    ListCursor withFailure() {
      return new ListCursor(index, failed | 1 << index, within);
    }

    ListCursor next(@Nullable String within) {
      return new ListCursor(within == null ? index + 1 : index, failed, within);
    }

    /** Whether this member's locks were listed before. A failed one may answer again by now. */
    boolean hasShown(int member) {
      return member < index && (failed & 1 << member) == 0;
    }

    String cursor() {
      return index + "," + failed + ":" + (within == null ? "" : within);
    }
  }

  /**
   * Lists the locks of one member after the other; each lock is listed with the first member that
   * knows it. Any lock that a majority holds is known to at least one answering member, as long as
   * a majority answers. That is checked first by asking all, and then by counting failures.
   */
  private CompletionStage<Page<LockInfo>> page(LockQuery query) {
    ListCursor listCursor = ListCursor.of(query.cursor());
    boolean first = query.cursor() == null;
    if (listCursor.index() >= store.members().size()) {
      return CompletableFuture.completedFuture(new Page<>(List.of(), null));
    }
    Member member = store.members().get(listCursor.index());
    LockQuery part = query.page(listCursor.within(), query.limit());
    List<MemberQuery.MemberCall<Page<LockInfo>>> asked =
        store.questions(one -> one.inspect(part)).stream()
            .filter(one -> first || one.member() == member)
            .toList();
    return MemberQuery.ask(asked, store.members().size(), pageNanos())
        .thenCompose(
            memberReplies ->
                shown(query, listCursor, member, first ? enough(memberReplies) : memberReplies))
        .thenCompose(
            page ->
                page.items().isEmpty() && page.next() != null
                    ? page(query.page(page.next(), query.limit()))
                    : CompletableFuture.completedFuture(page));
  }

  /** A member may take longer for a page than for a step: as long as its client may wait. */
  private long pageNanos() {
    return Math.max(store.timeoutNanos(), store.profile().maxInFlight().toNanos());
  }

  private CompletionStage<Page<LockInfo>> shown(
      LockQuery query,
      ListCursor asked,
      Member member,
      MemberQuery.MemberReplies<Page<LockInfo>> pages) {
    Page<LockInfo> answer = pages.answers().get(member);
    Page<LockInfo> page = answer == null ? new Page<>(List.of(), null) : answer;
    ListCursor listCursor = answer == null ? asked.withFailure() : asked;
    checkEnough(store.members().size() - Integer.bitCount(listCursor.failed()), pages.failures());
    ListCursor following = listCursor.next(page.next());
    String next = following.index() < store.members().size() ? following.cursor() : null;
    CompletionStage<List<LockInfo>> views = CompletableFuture.completedFuture(new ArrayList<>());
    for (LockInfo found : page.items()) {
      views =
          views.thenCompose(
              list ->
                  gather(one -> one.inspect(LockQuery.of(found.name())))
                      .thenApply(
                          memberReplies -> {
                            LockInfo view = firstKnownBy(listCursor, query.idle(), memberReplies);
                            if (view != null) {
                              list.add(view);
                            }
                            return list;
                          }));
    }
    return views.thenApply(list -> new Page<>(list, next));
  }

  private @Nullable LockInfo firstKnownBy(
      ListCursor listCursor,
      boolean idle,
      MemberQuery.MemberReplies<Page<LockInfo>> memberReplies) {
    List<LockInfo> views = new ArrayList<>();
    for (Map.Entry<Member, Page<LockInfo>> answer : enough(memberReplies).answers().entrySet()) {
      for (LockInfo view : answer.getValue().items()) {
        boolean shows = idle || isBusy(view);
        if (shows && listCursor.hasShown(answer.getKey().index)) {
          return null;
        }
        views.add(view);
      }
    }
    if (views.isEmpty()) {
      return null;
    }
    LockInfo merged = merged(views, memberReplies.size() - memberReplies.answers().size());
    return idle || isBusy(merged) ? merged : null;
  }

  private static boolean isBusy(LockInfo view) {
    return !view.holders().isEmpty() || !view.waiters().isEmpty() || !view.shutFor().isZero();
  }

  /**
   * The state known to a majority.
   *
   * @param missing how many members did not answer, and may know of a holder
   */
  private LockInfo merged(List<LockInfo> views, int missing) {
    List<LockParticipant> holders = new ArrayList<>();
    List<LockParticipant> seen = new ArrayList<>();
    for (LockInfo view : views) {
      for (LockParticipant participant : view.holders()) {
        if (seen.stream().anyMatch(one -> sameAttempt(one, participant))) {
          continue;
        }
        seen.add(participant);
        List<LockParticipant> same =
            views.stream()
                .flatMap(other -> other.holders().stream())
                .filter(other -> sameAttempt(other, participant))
                .toList();
        if (same.size() + missing >= store.majority()) {
          holders.add(merged(same));
        }
      }
    }
    int members = store.members().size();
    List<Duration> shut = new ArrayList<>(views.stream().map(LockInfo::shutFor).sorted().toList());
    int unknown = members - missing - views.size();
    // Members without a record count as open.
    int rank = store.majority() - 1 - unknown;
    LockInfo first = views.get(0);
    return new LockInfo(
        first.name(),
        first.permits(),
        token(views.stream().map(LockInfo::lastToken).toList()),
        rank < 0 || rank >= shut.size() ? Duration.ZERO : shut.get(rank),
        holders,
        List.of(),
        holders.size(),
        0,
        null);
  }

  private LockParticipant merged(List<LockParticipant> same) {
    LockParticipant first = same.get(0);
    LockParticipant told =
        same.stream().filter(participant -> participant.client() != null).findFirst().orElse(first);
    AttemptId attempt = id(first);
    return new LockParticipant(
        new AttemptId(attempt.session(), MemberIds.number(attempt)).encoded(),
        told.client(),
        first.label(),
        first.share(),
        token(same.stream().map(LockParticipant::token).toList()),
        first.since(),
        largest(same.stream().map(QuorumInspector::sessionLeft).toList()),
        first.atMostLeft(),
        first.sticky(),
        null,
        told.sessionTtl(),
        told.renewedAgo());
  }

  private static AttemptId id(LockParticipant participant) {
    return AttemptId.parse(participant.attempt());
  }

  private static boolean sameAttempt(LockParticipant one, LockParticipant other) {
    return MemberIds.sameAttempt(id(one), id(other));
  }

  private static Duration sessionLeft(LockParticipant participant) {
    return Objects.requireNonNullElse(participant.sessionLeft(), Duration.ZERO);
  }

  /** The token that a majority minted, if its members have some in common. */
  private long token(List<Long> minted) {
    return store.profile().can(Capability.TOKEN) ? largest(minted) : 0;
  }

  /** The largest value that a majority reaches; the least if there are too few. */
  private <T extends Comparable<T>> T largest(List<T> values) {
    List<T> sorted = new ArrayList<>(values);
    sorted.sort((a, b) -> b.compareTo(a));
    return sorted.get(Math.min(sorted.size(), store.majority()) - 1);
  }

  // ---- Evict, open, sweep ----

  private <T> @Nullable CompletionStage<T> unableToEvict() {
    return store.profile().can(Capability.EVICT)
        ? null
        : CompletableFuture.failedFuture(
            new UnsupportedByStoreException(
                "Store '"
                    + store
                    + "' cannot evict, since one of its members cannot: end the holder's process"
                    + " instead."));
  }

  CompletionStage<Reply.Ended> evict(LockName name, AttemptId attempt, Eviction how) {
    CompletionStage<Reply.Ended> unable = unableToEvict();
    if (unable != null) {
      return unable;
    }
    return gather(member -> evictIn(member, name, attempt, how))
        .thenApply(
            memberReplies -> {
              List<Reply.Ended> ends = new ArrayList<>(enough(memberReplies).answers().values());
              boolean more = ends.stream().anyMatch(Reply.Ended::more);
              boolean held = ends.stream().anyMatch(end -> end.was() == AttemptState.HELD);
              return held
                  ? new Reply.Ended(attempt, AttemptState.HELD, EndReason.EVICTED, more)
                  : new Reply.Ended(attempt, AttemptState.ABSENT, EndReason.UNKNOWN, more);
            });
  }

  /** The attempt may have another id there. */
  private static CompletionStage<Reply.Ended> evictIn(
      LockStore member, LockName name, AttemptId attempt, Eviction how) {
    return member
        .inspect(LockQuery.of(name.value()))
        .thenCompose(
            page -> {
              AttemptId there = attempt;
              for (LockInfo view : page.items()) {
                for (LockParticipant participant : view.holders()) {
                  there = MemberIds.sameAttempt(id(participant), attempt) ? id(participant) : there;
                }
              }
              return member.evict(name, there, how);
            });
  }

  CompletionStage<Boolean> reopen(LockName name) {
    CompletionStage<Boolean> unable = unableToEvict();
    if (unable != null) {
      return unable;
    }
    return gather(member -> member.reopen(name))
        .thenApply(
            memberReplies ->
                enough(memberReplies).answers().values().stream().filter(opened -> opened).count()
                    > memberReplies.size() - store.majority());
  }

  /** Sweeps one member at a time, in turn. */
  CompletionStage<Integer> sweep(int budget) {
    LockStore member = toSweep(sweepNext.getAndIncrement());
    return member == null ? CompletableFuture.completedFuture(0) : member.sweep(budget);
  }

  /** Claims at the member whose turn it is; if that one is not due, the next one has the turn. */
  CompletionStage<Boolean> claimSweep() {
    LockStore member = toSweep(sweepNext.get());
    CompletionStage<Boolean> claim =
        member == null ? CompletableFuture.completedFuture(false) : member.claimSweep();
    return claim.whenComplete(
        (ours, failure) -> {
          if (!Boolean.TRUE.equals(ours)) {
            sweepNext.incrementAndGet();
          }
        });
  }

  private @Nullable LockStore toSweep(int turn) {
    return store.members().get(Math.floorMod(turn, store.members().size())).store();
  }
}
