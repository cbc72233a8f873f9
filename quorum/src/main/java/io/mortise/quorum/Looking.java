package io.mortise.quorum;

import io.mortise.LockException;
import io.mortise.LockName;
import io.mortise.StoreUnavailableException;
import io.mortise.UnsupportedByStoreException;
import io.mortise.admin.Eviction;
import io.mortise.spi.AttemptId;
import io.mortise.spi.Capability;
import io.mortise.spi.LockPage;
import io.mortise.spi.LockQuery;
import io.mortise.spi.LockStore;
import io.mortise.spi.LockView;
import io.mortise.spi.Reply;
import io.mortise.spi.Reply.How;
import io.mortise.spi.Reply.Was;
import io.mortise.spi.SessionId;
import io.mortise.spi.StoreReport;
import io.mortise.spi.Verdict;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/** What is asked about locks from outside: who is dead, who holds, and to end somebody's hold. */
final class Looking {
  private final QuorumLockStore store;
  private final AtomicInteger sweepNext = new AtomicInteger();

  Looking(QuorumLockStore store) {
    this.store = store;
  }

  private <T> CompletableFuture<Gathering.Answers<T>> gather(
      Function<LockStore, CompletionStage<T>> question) {
    return Gathering.ask(store.questions(question), store.members().size(), store.timeoutNanos());
  }

  private <T> Gathering.Answers<T> enough(Gathering.Answers<T> answers) {
    checkEnough(answers.answers().size(), answers.failures());
    return answers;
  }

  private void checkEnough(int answered, List<Throwable> failures) {
    if (answered < store.majority()) {
      for (Throwable failure : failures) {
        if (failure instanceof LockException own && !(own instanceof StoreUnavailableException)) {
          throw own;
        }
      }
      throw Trouble.unavailable(
          "Only %d of %d members answered (store=%s)."
              .formatted(answered, store.members().size(), store),
          failures.isEmpty() ? null : failures.get(0));
    }
  }

  /**
   * Each member judges for itself, and what it says counts in that member only: see {@link
   * Member#hasEnded}. One that says so is enough for the answer, since a hold that a session left
   * behind in one member must end though the session lives in others.
   */
  CompletionStage<Verdict> judge(SessionId session) {
    return gather(member -> member.judge(session))
        .thenApply(
            answers -> {
              boolean ended = false;
              Verdict.Alive alive = null;
              for (Map.Entry<Member, Verdict> answer : answers.answers().entrySet()) {
                if (answer.getValue() instanceof Verdict.Alive one) {
                  alive = alive == null || one.left().compareTo(alive.left()) > 0 ? one : alive;
                } else {
                  answer.getKey().proveEnded(session);
                  ended = true;
                }
              }
              if (ended) {
                return new Verdict.SessionEnded();
              } else if (alive != null) {
                return alive;
              }
              enough(answers);
              throw new StoreUnavailableException("No member knows (store=" + store + ").");
            });
  }

  /** What each member says of itself, under its name. */
  CompletionStage<StoreReport> examine(Duration quarantine) {
    return gather(LockStore::examine)
        .thenApply(
            answers -> {
              boolean redis =
                  enough(answers).answers().values().stream()
                      .allMatch(one -> one.mode().startsWith("redis/"));
              boolean forgetful =
                  answers.answers().values().stream()
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
                    quarantine.toSeconds() + "s",
                    "So long a member has no vote that may have forgotten what it answered.");
              }
              answers
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
        // What one member's settings take away the others make good, but for the quarantine.
        Set.of());
  }

  // ---- Inspect ----

  CompletionStage<LockPage> inspect(LockQuery query) {
    if (query.name() == null) {
      return page(query);
    }
    return gather(member -> member.inspect(query))
        .thenApply(
            answers -> {
              List<LockView> views = new ArrayList<>();
              enough(answers).answers().values().forEach(page -> views.addAll(page.locks()));
              int missing = answers.size() - answers.answers().size();
              return new LockPage(
                  views.isEmpty() ? List.of() : List.of(merged(views, missing)), null);
            });
  }

  /**
   * How far the locks of all were walked through: as text, where a page begins.
   *
   * @param failed the members that did not answer when it was their turn, one bit each
   */
  private record Place(int index, int failed, @Nullable String within) {
    static Place of(@Nullable String cursor) {
      if (cursor == null) {
        return new Place(0, 0, null);
      }
      int comma = cursor.indexOf(',');
      int colon = cursor.indexOf(':');
      return new Place(
          Integer.parseInt(cursor, 0, comma, 10),
          Integer.parseInt(cursor, comma + 1, colon, 10),
          colon == cursor.length() - 1 ? null : cursor.substring(colon + 1));
    }

    Place withFailure() {
      return new Place(index, failed | 1 << index, within);
    }

    Place next(@Nullable String within) {
      return new Place(within == null ? index + 1 : index, failed, within);
    }

    /** Whether what this member knows was shown before. One that failed may answer again by now. */
    boolean hasShown(int member) {
      return member < index && (failed & 1 << member) == 0;
    }

    String cursor() {
      return index + "," + failed + ":" + (within == null ? "" : within);
    }
  }

  /**
   * The locks of one member after the other; each is shown with the first that knows it. What a
   * majority holds is known to one at least of those that answer, as long as a majority does: at
   * first all are asked, and then who fails in turn is counted.
   */
  private CompletionStage<LockPage> page(LockQuery query) {
    Place place = Place.of(query.cursor());
    boolean first = query.cursor() == null;
    if (place.index() >= store.members().size()) {
      return CompletableFuture.completedFuture(new LockPage(List.of(), null));
    }
    Member member = store.members().get(place.index());
    LockQuery part = new LockQuery(null, place.within(), query.limit(), query.idle());
    List<Gathering.Question<LockPage>> asked =
        store.questions(one -> one.inspect(part)).stream()
            .filter(one -> first || one.member() == member)
            .toList();
    return Gathering.ask(asked, store.members().size(), pageNanos())
        .thenCompose(answers -> shown(query, place, member, first ? enough(answers) : answers))
        .thenCompose(
            page ->
                page.locks().isEmpty() && page.next() != null
                    ? page(query.from(page.next()))
                    : CompletableFuture.completedFuture(page));
  }

  /** A page may take its member longer than a step: as long as its client may wait. */
  private long pageNanos() {
    return Math.max(store.timeoutNanos(), store.profile().maxInFlight().toNanos());
  }

  private CompletionStage<LockPage> shown(
      LockQuery query, Place asked, Member member, Gathering.Answers<LockPage> pages) {
    LockPage answer = pages.answers().get(member);
    LockPage page = answer == null ? new LockPage(List.of(), null) : answer;
    Place place = answer == null ? asked.withFailure() : asked;
    checkEnough(store.members().size() - Integer.bitCount(place.failed()), pages.failures());
    Place following = place.next(page.next());
    String next = following.index() < store.members().size() ? following.cursor() : null;
    CompletionStage<List<LockView>> views = CompletableFuture.completedFuture(new ArrayList<>());
    for (LockView found : page.locks()) {
      views =
          views.thenCompose(
              list ->
                  gather(one -> one.inspect(LockQuery.of(found.name())))
                      .thenApply(
                          answers -> {
                            LockView view = firstKnownBy(place, query.idle(), answers);
                            if (view != null) {
                              list.add(view);
                            }
                            return list;
                          }));
    }
    return views.thenApply(list -> new LockPage(list, next));
  }

  private @Nullable LockView firstKnownBy(
      Place place, boolean idle, Gathering.Answers<LockPage> answers) {
    List<LockView> views = new ArrayList<>();
    for (Map.Entry<Member, LockPage> answer : enough(answers).answers().entrySet()) {
      for (LockView view : answer.getValue().locks()) {
        boolean shows = idle || isBusy(view);
        if (shows && place.hasShown(answer.getKey().index)) {
          return null;
        }
        views.add(view);
      }
    }
    if (views.isEmpty()) {
      return null;
    }
    LockView merged = merged(views, answers.size() - answers.answers().size());
    return idle || isBusy(merged) ? merged : null;
  }

  private static boolean isBusy(LockView view) {
    return !view.holders().isEmpty() || !view.waiters().isEmpty() || !view.closedFor().isZero();
  }

  /**
   * What a majority knows.
   *
   * @param missing how many members did not answer, and may know of a holder
   */
  private LockView merged(List<LockView> views, int missing) {
    List<LockView.Party> holders = new ArrayList<>();
    List<LockView.Party> seen = new ArrayList<>();
    for (LockView view : views) {
      for (LockView.Party party : view.holders()) {
        if (seen.stream().anyMatch(one -> MemberIds.sameAttempt(one.attempt(), party.attempt()))) {
          continue;
        }
        seen.add(party);
        List<LockView.Party> same =
            views.stream()
                .flatMap(other -> other.holders().stream())
                .filter(other -> MemberIds.sameAttempt(other.attempt(), party.attempt()))
                .toList();
        if (same.size() + missing >= store.majority()) {
          holders.add(merged(same));
        }
      }
    }
    int members = store.members().size();
    List<Duration> closed =
        new ArrayList<>(views.stream().map(LockView::closedFor).sorted().toList());
    int unknown = members - missing - views.size();
    // Members without a record are open.
    int place = store.majority() - 1 - unknown;
    LockView first = views.get(0);
    return new LockView(
        first.name(),
        first.capacity(),
        token(views.stream().map(LockView::lastToken).toList()),
        place < 0 || place >= closed.size() ? Duration.ZERO : closed.get(place),
        holders,
        List.of());
  }

  private LockView.Party merged(List<LockView.Party> same) {
    LockView.Party first = same.get(0);
    LockView.Party told =
        same.stream().filter(party -> party.client() != null).findFirst().orElse(first);
    return new LockView.Party(
        new AttemptId(first.attempt().session(), MemberIds.number(first.attempt())),
        told.client(),
        first.label(),
        first.weight(),
        token(same.stream().map(LockView.Party::token).toList()),
        first.since(),
        largest(same.stream().map(LockView.Party::sessionLeft).toList()),
        first.atMostLeft());
  }

  /** What a majority minted, where its members have tokens in common. */
  private long token(List<Long> minted) {
    return store.profile().can(Capability.TOKEN) ? largest(minted) : 0;
  }

  /** The largest that a majority reaches; the least if there are not so many. */
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
            new UnsupportedByStoreException("Store '" + store + "' cannot evict."));
  }

  CompletionStage<Reply.Ended> evict(LockName name, AttemptId attempt, Eviction how) {
    CompletionStage<Reply.Ended> unable = unableToEvict();
    if (unable != null) {
      return unable;
    }
    return gather(member -> evictIn(member, name, attempt, how))
        .thenApply(
            answers -> {
              List<Reply.Ended> ends = new ArrayList<>(enough(answers).answers().values());
              boolean more = ends.stream().anyMatch(Reply.Ended::more);
              boolean held = ends.stream().anyMatch(end -> end.was() == Was.HELD);
              return held
                  ? new Reply.Ended(attempt, Was.HELD, How.EVICTED, more)
                  : new Reply.Ended(attempt, Was.ABSENT, How.UNKNOWN, more);
            });
  }

  /** The attempt may be called otherwise there. */
  private static CompletionStage<Reply.Ended> evictIn(
      LockStore member, LockName name, AttemptId attempt, Eviction how) {
    return member
        .inspect(LockQuery.of(name))
        .thenCompose(
            page -> {
              AttemptId there = attempt;
              for (LockView view : page.locks()) {
                for (LockView.Party party : view.holders()) {
                  there = MemberIds.sameAttempt(party.attempt(), attempt) ? party.attempt() : there;
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
            answers ->
                enough(answers).answers().values().stream().filter(opened -> opened).count()
                    > answers.size() - store.majority());
  }

  /** One member at a time, in turn. */
  CompletionStage<Integer> sweep(int budget) {
    LockStore member = toSweep(sweepNext.getAndIncrement());
    return member == null ? CompletableFuture.completedFuture(0) : member.sweep(budget);
  }

  /** At the member whose turn it is; where that one is not to be swept now, the next one has it. */
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
