package io.mortise.testkit.contract.document;

import io.mortise.StoreUnavailableException;
import io.mortise.support.document.DocumentTooLargeException;
import io.mortise.support.document.VersionedDocuments;
import java.io.EOFException;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/** Documents in memory, as one process uses them, with one rule broken. */
final class FlawedDocuments implements VersionedDocuments {
  /** Each breaks one rule. */
  enum Flaw {
    NONE,
    READS_WHAT_IT_REMEMBERS,
    COMPARES_NOTHING,
    COMPARES_TEXTS,
    COMPARES_BEFORE_IT_WRITES,
    REMOVES_ANY_VERSION,
    SKIPS_WRITES_THAT_CHANGE_NOTHING,
    COUNTS_A_NEW_DOCUMENT_FROM_ONE,
    REMEMBERS_THE_FIRST_REMOVAL_ONLY,
    REMEMBERS_THE_LAST_TWO_REMOVALS,
    COMPARES_ABSENT_VERSIONS_AS_TEXTS,
    REFUSES_LATE_WRITES,
    TELLS_WHAT_STOOD_BEFORE,
    TELLS_LOST_ANSWERS_AS_REFUSALS,
    SENDS_LOST_WRITES_AGAIN,
    FORGETS_REMOVALS_AT_ONCE,
    FORGETS_DOCUMENTS,
    WAITS_FOR_WHAT_IT_READS,
    CUTS_TEXTS_AT_CONTROL_CHARACTERS,
    ANSWERS_UNDER_A_LOCK,
    CONNECTS_IN_THE_CALLER,
    READS_NOTHING_WITHOUT_AN_ANSWER,
    LISTS_NOTHING_WITHOUT_AN_ANSWER,
    STAYS_BROKEN,
    CUTS_LONG_TEXTS,
    CUTS_TEXTS_TO_16_BITS,
    TELLS_TOO_LONG_TEXTS_AS_LOST,
    CUTS_LONG_KEYS,
    KEEPS_NO_CASE,
    STRIPS_BLANKS,
    ESCAPES_STARS_ONLY,
    LISTS_ALL_KINDS,
    LISTS_A_PAGE_TOO_FEW,
    CAPS_A_PAGE,
    LISTS_A_KEY_TWICE,
    BEGINS_ANEW_BEHIND_A_REMOVED_KEY,
    NEVER_TELLS,
    TELLS_OWN_WRITES_ONLY,
    TELLS_OWN_WRITES_TOO,
    TELLS_THE_LAST_WATCH_ONLY,
    TELLS_AFTER_THE_END,
    TELLS_THE_TEXT_BEFORE,
    COMPARES_THE_FIRST_ONLY,
    WRITES_A_PART,
    FORGETS_BROKEN_WATCHES
  }

  /** The server that all processes share. */
  static final class Server {
    private final Map<String, VersionedText> documents = new TreeMap<>();
    private final Map<String, Long> removed = new LinkedHashMap<>();
    private final Map<String, List<Watch>> watches = new ConcurrentHashMap<>();
    private long version;
  }

  private record Watch(FlawedDocuments owner, Consumer<@Nullable VersionedText> changed) {}

  /**
   * The limit of a text's length, as any server has one: between the required 120 KB and 128 KiB.
   */
  private static final int LONGEST = 125_000;

  private final Server server;
  private final Flaw flaw;
  private final Function<Runnable, CompletionStage<?>> network;
  private final Map<String, VersionedText> remembered = new ConcurrentHashMap<>();
  private final ReentrantLock guard = new ReentrantLock();
  private volatile boolean broken;

  /**
   * A process.
   *
   * @param network has the server run a step, and completes with the arrival of its answer
   */
  FlawedDocuments(Server server, Flaw flaw, Function<Runnable, CompletionStage<?>> network) {
    this.server = server;
    this.flaw = flaw;
    this.network = network;
  }

  private String key(String key) {
    return switch (flaw) {
      case CUTS_LONG_KEYS -> key.substring(0, Math.min(255, key.length()));
      case KEEPS_NO_CASE -> key.toLowerCase(Locale.ROOT);
      case STRIPS_BLANKS -> key.stripTrailing();
      case ESCAPES_STARS_ONLY -> key.replace("*", "%2A");
      default -> key;
    };
  }

  private <T> CompletionStage<T> sent(Supplier<T> step) {
    if (flaw == Flaw.STAYS_BROKEN && broken) {
      return CompletableFuture.failedFuture(new StoreUnavailableException("broken"));
    }
    CompletableFuture<T> taken = new CompletableFuture<>();
    CompletionStage<T> answer =
        network
            .apply(
                () -> {
                  synchronized (server) {
                    taken.complete(step.get());
                  }
                })
            .thenCompose(answered -> taken)
            .whenComplete((result, failure) -> ended(failure));
    return flaw == Flaw.ANSWERS_UNDER_A_LOCK ? underLock(answer) : answer;
  }

  private void ended(@Nullable Throwable failure) {
    broken |= failure != null;
    if (broken && flaw == Flaw.FORGETS_BROKEN_WATCHES) {
      synchronized (server) {
        server.watches.values().forEach(all -> all.removeIf(watch -> watch.owner() == this));
      }
    }
  }

  /** The flaw: completes answers under the lock that each call takes. */
  private <T> CompletionStage<T> underLock(CompletionStage<T> answer) {
    CompletableFuture<T> told = new CompletableFuture<>();
    guard.lock();
    try {
      answer.whenComplete(
          (result, failure) -> {
            guard.lock();
            try {
              if (failure == null) {
                told.complete(result);
              } else {
                told.completeExceptionally(failure);
              }
            } finally {
              guard.unlock();
            }
          });
    } finally {
      guard.unlock();
    }
    return told;
  }

  private VersionedText stands(String key) {
    VersionedText document = server.documents.get(key);
    return document == null ? new VersionedText(null, absentVersion(key)) : document;
  }

  private String absentVersion(String key) {
    long removed = server.removed.getOrDefault(key, 0L);
    return Long.toString(flaw == Flaw.COUNTS_A_NEW_DOCUMENT_FROM_ONE ? 0 : removed);
  }

  @Override
  public CompletionStage<VersionedText> read(String key) {
    VersionedText known = remembered.get(key);
    if (flaw == Flaw.READS_WHAT_IT_REMEMBERS && known != null) {
      return CompletableFuture.completedFuture(known);
    }
    CompletionStage<VersionedText> answer =
        sent(
            () -> {
              remembered.put(key, stands(key(key)));
              return stands(key(key));
            });
    return mayWait(
        flaw == Flaw.READS_NOTHING_WITHOUT_AN_ANSWER
            ? answer.exceptionally(failure -> new VersionedText(null, "0"))
            : answer);
  }

  private <T> CompletionStage<T> mayWait(CompletionStage<T> answer) {
    if (flaw == Flaw.WAITS_FOR_WHAT_IT_READS) {
      answer.handle((result, failure) -> true).toCompletableFuture().join();
    }
    return answer;
  }

  @Override
  public CompletionStage<Written> compareAndSet(
      String key, VersionedText found, @Nullable String text) {
    if (text != null && text.length() > LONGEST) {
      return CompletableFuture.failedFuture(
          flaw == Flaw.TELLS_TOO_LONG_TEXTS_AS_LOST
              ? new StoreUnavailableException("no answer", new EOFException())
              : new StoreUnavailableException(
                  "The document is too long.", new DocumentTooLargeException("65 KB at most")));
    }
    String asked = key(key);
    VersionedText early;
    synchronized (server) {
      early = stands(asked);
    }
    boolean[] onTime = {true};
    Supplier<Written> step =
        () -> {
          VersionedText before = stands(asked);
          VersionedText compared = flaw == Flaw.COMPARES_BEFORE_IT_WRITES ? early : before;
          boolean made =
              matches(found, compared, text) && (flaw != Flaw.REFUSES_LATE_WRITES || onTime[0]);
          if (made) {
            write(asked, before, text);
          }
          VersionedText after = flaw == Flaw.TELLS_WHAT_STOOD_BEFORE ? before : stands(asked);
          remembered.put(key, after);
          return new Written(made, after);
        };
    CompletionStage<Written> answer = sent(step);
    onTime[0] = false;
    return switch (flaw) {
      case TELLS_LOST_ANSWERS_AS_REFUSALS ->
          answer.exceptionally(failure -> new Written(false, null));
      case SENDS_LOST_WRITES_AGAIN -> answer.exceptionallyCompose(failure -> sent(step));
      default -> answer;
    };
  }

  @Override
  public boolean writesTogether() {
    return true;
  }

  @Override
  public CompletionStage<List<Written>> compareAndSetAll(List<DocumentWrite> writes) {
    return sent(
        () -> {
          List<Boolean> fits =
              writes.stream()
                  .map(each -> matches(each.found(), stands(key(each.key())), each.text()))
                  .toList();
          boolean all = flaw == Flaw.COMPARES_THE_FIRST_ONLY ? fits.get(0) : !fits.contains(false);
          List<Written> written = new ArrayList<>();
          for (int i = 0; i < writes.size(); i++) {
            String key = key(writes.get(i).key());
            boolean made = flaw == Flaw.WRITES_A_PART ? fits.get(i) : all;
            if (made) {
              write(key, stands(key), writes.get(i).text());
            }
            written.add(new Written(made, stands(key)));
          }
          return written;
        });
  }

  private boolean matches(VersionedText found, VersionedText stands, @Nullable String text) {
    boolean sameKind = (found.text() == null) == (stands.text() == null);
    return switch (flaw) {
      case COMPARES_NOTHING -> true;
      case COMPARES_TEXTS -> sameKind && String.valueOf(found.text()).equals(stands.text() + "");
      case REMOVES_ANY_VERSION ->
          text == null || (sameKind && found.version().equals(stands.version()));
      case COMPARES_ABSENT_VERSIONS_AS_TEXTS ->
          sameKind
              && (found.text() == null
                  ? found.version().compareTo(stands.version()) >= 0
                  : found.version().equals(stands.version()));
      default -> sameKind && found.version().equals(stands.version());
    };
  }

  private void write(String key, VersionedText before, @Nullable String text) {
    if (flaw == Flaw.SKIPS_WRITES_THAT_CHANGE_NOTHING
        && text != null
        && text.equals(before.text())) {
      return;
    }
    long version = next(before);
    if (text == null) {
      server.documents.remove(key);
      if (flaw == Flaw.REMEMBERS_THE_FIRST_REMOVAL_ONLY) {
        server.removed.putIfAbsent(key, version);
      } else {
        server.removed.remove(key);
        server.removed.put(key, version);
      }
      if (flaw == Flaw.REMEMBERS_THE_LAST_TWO_REMOVALS && server.removed.size() > 2) {
        server.removed.remove(server.removed.keySet().iterator().next());
      }
    } else {
      String kept =
          switch (flaw) {
            case CUTS_TEXTS_AT_CONTROL_CHARACTERS -> text.split("\\p{Cntrl}", -1)[0];
            case CUTS_LONG_TEXTS -> text.substring(0, Math.min(1000, text.length()));
            case CUTS_TEXTS_TO_16_BITS -> text.substring(0, Math.min(65_535, text.length()));
            default -> text;
          };
      server.documents.put(key, new VersionedText(kept, Long.toString(version)));
    }
    for (Watch watch : List.copyOf(server.watches.getOrDefault(key, List.of()))) {
      boolean isOwn = watch.owner() == this;
      boolean isTold =
          switch (flaw) {
            case NEVER_TELLS -> false;
            case TELLS_OWN_WRITES_ONLY -> isOwn;
            case TELLS_OWN_WRITES_TOO -> true;
            default -> !isOwn;
          };
      if (isTold) {
        VersionedText stands = stands(key);
        watch
            .changed()
            .accept(
                flaw == Flaw.TELLS_THE_TEXT_BEFORE
                    ? new VersionedText(before.text(), stands.version())
                    : stands);
      }
    }
  }

  private long next(VersionedText before) {
    server.version++;
    return flaw == Flaw.COUNTS_A_NEW_DOCUMENT_FROM_ONE
        ? Long.parseLong(before.version()) + 1
        : server.version;
  }

  @Override
  public CompletionStage<List<String>> scan(String prefix, String after, int limit) {
    CompletionStage<List<String>> answer = sent(() -> listed(prefix, after, limit));
    return mayWait(
        flaw == Flaw.LISTS_NOTHING_WITHOUT_AN_ANSWER
            ? answer.exceptionally(failure -> List.of())
            : answer);
  }

  private List<String> listed(String prefix, String after, int limit) {
    if (flaw == Flaw.LISTS_A_PAGE_TOO_FEW && !after.isEmpty()) {
      return List.of();
    }
    boolean beginsAnew =
        flaw == Flaw.BEGINS_ANEW_BEHIND_A_REMOVED_KEY && !server.documents.containsKey(after);
    return server.documents.keySet().stream()
        .filter(key -> key.startsWith(prefix) || flaw == Flaw.LISTS_ALL_KINDS)
        .filter(
            key ->
                beginsAnew
                    || key.compareTo(after) > 0
                    || (flaw == Flaw.LISTS_A_KEY_TWICE && key.equals(after)))
        .limit(flaw == Flaw.CAPS_A_PAGE ? Math.min(limit, 1000) : limit)
        .toList();
  }

  @Override
  public CompletionStage<Boolean> forget(String key) {
    return sent(
        () ->
            switch (flaw) {
              case FORGETS_REMOVALS_AT_ONCE -> server.removed.remove(key(key)) != null;
              case FORGETS_DOCUMENTS -> server.documents.remove(key(key)) != null;
              default -> false;
            });
  }

  @Override
  public Runnable watch(String key, Consumer<@Nullable VersionedText> changed) {
    List<Watch> watches = server.watches.computeIfAbsent(key, any -> new ArrayList<>());
    Watch watch = new Watch(this, changed);
    synchronized (server) {
      if (flaw == Flaw.TELLS_THE_LAST_WATCH_ONLY) {
        watches.clear();
      }
      watches.add(watch);
    }
    return () -> {
      synchronized (server) {
        if (flaw != Flaw.TELLS_AFTER_THE_END) {
          watches.remove(watch);
        }
      }
    };
  }
}
