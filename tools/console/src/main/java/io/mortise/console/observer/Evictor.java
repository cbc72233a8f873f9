package io.mortise.console.observer;

import io.mortise.admin.Eviction;
import io.mortise.admin.EvictionResult;
import io.mortise.admin.LockAdmin;
import io.mortise.admin.LockParticipant;
import io.mortise.console.view.EvictionText;
import io.mortise.console.view.LockFormatter;
import io.mortise.console.view.OutputSanitizer;
import java.time.Duration;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Ends holds and waits, and opens locks, for an operator. Reports each action to the observer and
 * the log. The caller has to check that the target is the one that the operator saw. Blocks.
 * Thread-safe.
 */
public final class Evictor {
  private static final Logger log = LoggerFactory.getLogger(Evictor.class);

  private final LockAdmin admin;
  private final Observer observer;
  private final String place;

  /**
   * Creates an evictor on a store.
   *
   * @param place the operators' tool, for the log: {@code console}
   */
  public Evictor(LockAdmin admin, Observer observer, String place) {
    this.admin = admin;
    this.observer = observer;
    this.place = place;
  }

  /** The result of an eviction, also as a message for people. */
  public record Evicted(EvictionResult result, String message) {}

  /** Whether a lock was opened, also as a message for people. */
  public record Opened(boolean opened, String message) {}

  /**
   * Ends the hold or the wait of a party.
   *
   * @param holds whether the party was seen to hold the lock
   * @param now whether the lock is to be free at once
   * @param user the name that the log shows; null if the user is not known
   */
  public Evicted evict(
      String name, LockParticipant party, boolean holds, boolean now, @Nullable String user) {
    // A wait too: it may have become a hold meanwhile, which must not be freed at once.
    Eviction how = now ? Eviction.BREAK : Eviction.CLOSE;
    ObservedEvent eviction = event(name, party, holds, now, user);
    observer.evicting(eviction);
    EvictionResult result = evict(name, party, how, user);
    if (result == EvictionResult.NOT_THERE) {
      observer.notEvicted(eviction);
    }
    String message =
        EvictionText.of(
            result, OutputSanitizer.text(name), party, now, holds && LockFormatter.isGone(party));
    log.warn(
        "An operator at the {} evicted from lock '{}' (store={}, user={}): {} (form={}, attempt={}, token={},"
            + " result={}).",
        place,
        OutputSanitizer.text(name),
        store(),
        shown(user),
        message,
        how,
        LockFormatter.attempt(party.attempt()),
        party.token(),
        result);
    return new Evicted(result, message);
  }

  private EvictionResult evict(
      String name, LockParticipant party, Eviction how, @Nullable String user) {
    try {
      return admin.evict(name, party.attempt(), how);
    } catch (RuntimeException e) {
      log.warn(
          "An operator at the {} asked to evict from lock '{}' (store={}, user={}), and what came of it is not"
              + " known (form={}, attempt={}, token={}).",
          place,
          OutputSanitizer.text(name),
          store(),
          shown(user),
          how,
          LockFormatter.attempt(party.attempt()),
          party.token(),
          e);
      throw e;
    }
  }

  /**
   * Opens a shut lock without a holder.
   *
   * @param user the name that the log shows; null if the user is not known
   */
  public Opened open(String name, @Nullable String user) {
    boolean opened = reopen(name, user);
    if (opened) {
      observer.evicting(
          ObservedEvent.ofLock(
              observer.now(),
              ObservedKind.OPENED,
              name,
              Duration.ZERO,
              "opened by " + operator(user)));
    }
    String message = EvictionText.opened(OutputSanitizer.text(name), opened);
    log.warn(
        "An operator at the {} opened lock '{}' (store={}, user={}): {}",
        place,
        OutputSanitizer.text(name),
        store(),
        shown(user),
        message);
    return new Opened(opened, message);
  }

  private boolean reopen(String name, @Nullable String user) {
    try {
      return admin.reopen(name);
    } catch (RuntimeException e) {
      log.warn(
          "An operator at the {} asked to open lock '{}' (store={}, user={}), and what came of it is not known.",
          place,
          OutputSanitizer.text(name),
          store(),
          shown(user),
          e);
      throw e;
    }
  }

  private ObservedEvent event(
      String name, LockParticipant party, boolean holds, boolean now, @Nullable String user) {
    ObservedKind kind =
        !holds ? ObservedKind.GAVE_UP : now ? ObservedKind.BROKEN : ObservedKind.EVICTED;
    return ObservedEvent.ofParty(
        observer.now(),
        kind,
        name,
        party,
        null,
        Duration.ZERO,
        (kind == ObservedKind.BROKEN ? "freed at once by " : "ended by ") + operator(user));
  }

  private String store() {
    return OutputSanitizer.hide(admin.store().display());
  }

  private static String shown(@Nullable String user) {
    return user == null ? "-" : user;
  }

  private static String operator(@Nullable String user) {
    return user == null ? "an operator" : "operator " + user;
  }
}
