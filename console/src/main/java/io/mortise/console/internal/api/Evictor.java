package io.mortise.console.internal.api;

import com.fasterxml.jackson.jr.ob.JSON;
import io.mortise.admin.Eviction;
import io.mortise.admin.EvictionResult;
import io.mortise.admin.LockAdmin;
import io.mortise.admin.LockParticipant;
import io.mortise.console.internal.http.Caller;
import io.mortise.console.internal.http.ConsoleRequest;
import io.mortise.console.internal.http.ConsoleResponse;
import io.mortise.console.internal.http.RefusedException;
import io.mortise.console.internal.observer.ObservedEvent;
import io.mortise.console.internal.observer.ObservedKind;
import io.mortise.console.internal.observer.Observer;
import io.mortise.console.internal.observer.SeenLock;
import io.mortise.console.internal.view.EvictionText;
import io.mortise.console.internal.view.LockFormatter;
import io.mortise.console.internal.view.OutputSanitizer;
import java.io.IOException;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Ends holds and waits, and opens locks: each time exactly what was on the screen of the person who
 * asks, or nothing.
 */
final class Evictor {
  private static final Logger log = LoggerFactory.getLogger(Evictor.class);

  private static final String CLOSE = "close";
  private static final String BREAK = "break";
  private static final String OPEN = "open";
  private static final String NO_USER = "-";

  private final LockAdmin admin;
  private final Observer observer;
  private final Set<String> allowed;

  Evictor(LockAdmin admin, Observer observer, Set<String> allowed) {
    this.admin = admin;
    this.observer = observer;
    this.allowed = Set.copyOf(allowed);
  }

  ConsoleResponse evict(String name, ConsoleRequest request) {
    if (!allowed.contains(CLOSE) && !allowed.contains(BREAK)) {
      throw RefusedException.notFound();
    }
    Map<String, Object> body = body(request);
    String attempt = text(body, "attempt");
    String token = text(body, "token");
    boolean now = isNow(text(body, "how"));
    if (!allowed.contains(now ? BREAK : CLOSE)) {
      throw new RefusedException(
          404,
          "not-found",
          "This console may not do that.",
          "To allow it: mortise console --allow "
              + (now ? BREAK : CLOSE)
              + ", in Java ConsoleBuilder.allow, in Spring Boot mortise.console.allow.");
    }
    if (now && !name.equals(text(body, "confirm"))) {
      throw RefusedException.badRequest("To free a lock at once, 'confirm' has to be its name.");
    }
    SeenLock lock = observer.look(name);
    Optional<LockParticipant> holder = find(lock.info().holders(), attempt, token);
    Optional<LockParticipant> party =
        holder.or(
            () -> token == null ? find(lock.info().waiters(), attempt, null) : Optional.empty());
    if (party.isEmpty()) {
      return changed(lock, "This hold or wait has ended by now. Nothing was done.");
    }
    boolean dead = holder.isPresent() && LockFormatter.isGone(party.get());
    if (dead && !now && !lock.info().shutFor().isZero()) {
      return changed(
          lock,
          "Of this lock "
              + LockFormatter.gone(lock.info())
              + ". A command may have outlived its process. Nothing was done.");
    }
    // A wait too: it may have become a hold since the look, which is not to be freed at once.
    Eviction how = now ? Eviction.BREAK : Eviction.CLOSE;
    ObservedEvent eviction = event(name, party.get(), how, holder.isPresent(), user(request));
    observer.evicting(eviction);
    EvictionResult result = evict(name, party.get(), how, user(request));
    if (result == EvictionResult.NOT_THERE) {
      observer.notEvicted(eviction);
    }
    String who = LockFormatter.client(party.get());
    String message = EvictionText.of(result, OutputSanitizer.text(name), who, now, dead);
    log.warn(
        "An operator at the console evicted from lock '{}' (store={}, user={}): {} (form={}, attempt={},"
            + " token={}, result={}).",
        OutputSanitizer.text(name),
        store(),
        user(request),
        message,
        how,
        party.get().attempt(),
        party.get().token(),
        result);
    SeenLock after = observer.look(name);
    if (result == EvictionResult.NOT_THERE) {
      return changed(after, message);
    }
    Map<String, @Nullable Object> json = new LinkedHashMap<>();
    json.put("result", result.name().toLowerCase(Locale.ROOT));
    json.put("message", message);
    json.put(
        "shutForMillis",
        result == EvictionResult.HOLD_ENDED && how == Eviction.CLOSE
            ? party.get().sessionLeft().toMillis()
            : 0L);
    json.put("lock", LockDetail.json(observer, after));
    return ConsoleResponse.json(200, json);
  }

  ConsoleResponse open(String name, ConsoleRequest request) {
    if (!allowed.contains(OPEN)) {
      throw RefusedException.notFound();
    }
    if (!name.equals(text(body(request), "confirm"))) {
      throw RefusedException.badRequest("To open a lock, 'confirm' has to be its name.");
    }
    SeenLock lock = observer.look(name);
    boolean held = lock.info().holders().stream().anyMatch(party -> !LockFormatter.isGone(party));
    if (held) {
      return changed(lock, "Somebody holds this lock. Nothing was done.");
    }
    String user = user(request);
    boolean opened = reopen(name, user);
    if (opened) {
      observer.evicting(opening(name, user));
    }
    String message =
        opened
            ? "Opened lock '" + OutputSanitizer.text(name) + "'."
            : "Lock '" + OutputSanitizer.text(name) + "' has opened by itself.";
    log.warn(
        "An operator at the console opened lock '{}' (store={}, user={}): {}",
        OutputSanitizer.text(name),
        store(),
        user,
        message);
    SeenLock after = observer.look(name);
    Map<String, @Nullable Object> json = new LinkedHashMap<>();
    json.put("opened", opened);
    json.put("message", message);
    json.put("lock", LockDetail.json(observer, after));
    return ConsoleResponse.json(200, json);
  }

  private EvictionResult evict(String name, LockParticipant party, Eviction how, String user) {
    try {
      return admin.evict(name, party.attempt(), how);
    } catch (RuntimeException e) {
      log.warn(
          "An operator at the console asked to evict from lock '{}' (store={}, user={}), and what came of it"
              + " is not known (form={}, attempt={}, token={}).",
          OutputSanitizer.text(name),
          store(),
          user,
          how,
          party.attempt(),
          party.token(),
          e);
      throw e;
    }
  }

  private boolean reopen(String name, String user) {
    try {
      return admin.reopen(name);
    } catch (RuntimeException e) {
      log.warn(
          "An operator at the console asked to open lock '{}' (store={}, user={}), and what came of it is not"
              + " known.",
          OutputSanitizer.text(name),
          store(),
          user,
          e);
      throw e;
    }
  }

  private String store() {
    return OutputSanitizer.hide(admin.store().display());
  }

  private ConsoleResponse changed(SeenLock lock, String message) {
    Map<String, @Nullable Object> json =
        new RefusedException(409, "changed", message, "Look at the lock as it is now.").json();
    json.put("lock", LockDetail.json(observer, lock));
    return ConsoleResponse.json(409, json);
  }

  private static Optional<LockParticipant> find(
      List<LockParticipant> parties, @Nullable String attempt, @Nullable String token) {
    return parties.stream()
        .filter(
            party ->
                party.attempt().equals(attempt)
                    && Objects.equals(LockFormatter.jsonToken(party.token()), token))
        .findFirst();
  }

  private ObservedEvent event(
      String name, LockParticipant party, Eviction how, boolean holds, String user) {
    ObservedKind kind =
        !holds
            ? ObservedKind.GAVE_UP
            : how == Eviction.BREAK ? ObservedKind.BROKEN : ObservedKind.EVICTED;
    return ObservedEvent.ofParty(
        observer.now(),
        kind,
        name,
        party,
        null,
        Duration.ZERO,
        (kind == ObservedKind.BROKEN ? "freed at once by " : "ended by ") + operator(user));
  }

  private ObservedEvent opening(String name, String user) {
    return ObservedEvent.ofLock(
        observer.now(), ObservedKind.OPENED, name, Duration.ZERO, "opened by " + operator(user));
  }

  /** Of the application that serves the console; a link has no user. */
  private static String user(ConsoleRequest request) {
    Caller caller = request.caller();
    String user = caller == null ? null : caller.user();
    return user == null ? NO_USER : OutputSanitizer.text(user);
  }

  private static String operator(String user) {
    return user.equals(NO_USER) ? "an operator" : "operator " + user;
  }

  private static boolean isNow(@Nullable String how) {
    if (BREAK.equals(how)) {
      return true;
    }
    if (CLOSE.equals(how)) {
      return false;
    }
    throw RefusedException.badRequest("'how' has to be close or break.");
  }

  private static @Nullable String text(Map<String, Object> body, String key) {
    Object value = body.get(key);
    if (value == null) {
      return null;
    }
    if (value instanceof String text) {
      return text;
    }
    throw RefusedException.badRequest("'" + key + "' has to be a text.");
  }

  private static Map<String, Object> body(ConsoleRequest request) {
    try {
      return JSON.std.mapFrom(request.body());
    } catch (IOException e) {
      throw RefusedException.badRequest("The body has to be a JSON object.");
    }
  }
}
