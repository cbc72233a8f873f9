package io.mortise.console.internal.api;

import com.fasterxml.jackson.jr.ob.JSON;
import io.mortise.admin.EvictionResult;
import io.mortise.admin.LockAdmin;
import io.mortise.admin.LockParticipant;
import io.mortise.console.internal.http.Caller;
import io.mortise.console.internal.http.ConsoleRequest;
import io.mortise.console.internal.http.ConsoleResponse;
import io.mortise.console.internal.http.RefusedException;
import io.mortise.console.observer.Evictor;
import io.mortise.console.observer.Observer;
import io.mortise.console.observer.SeenLock;
import io.mortise.console.view.LockFormatter;
import io.mortise.console.view.OutputSanitizer;
import io.mortise.spi.AttemptId;
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

/**
 * Answers requests for evictions: ends or opens exactly the hold, wait or lock on the screen, or
 * none.
 */
final class EvictionEndpoint {
  private static final String CLOSE = "close";
  private static final String BREAK = "break";
  private static final String OPEN = "open";

  private final Evictor evictor;
  private final Observer observer;
  private final Set<String> allowed;

  EvictionEndpoint(LockAdmin admin, Observer observer, Set<String> allowed) {
    this.evictor = new Evictor(admin, observer, "console");
    this.observer = observer;
    this.allowed = Set.copyOf(allowed);
  }

  ConsoleResponse evict(String name, ConsoleRequest request) {
    if (!allowed.contains(CLOSE) && !allowed.contains(BREAK)) {
      throw RefusedException.notFound();
    }
    Map<String, Object> body = body(request);
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
    String attempt = attempt(body);
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
    Evictor.Evicted evicted =
        evictor.evict(name, party.get(), holder.isPresent(), now, user(request));
    SeenLock after = observer.look(name);
    EvictionResult result = evicted.result();
    if (result == EvictionResult.NOT_THERE) {
      return changed(after, evicted.message());
    }
    Map<String, @Nullable Object> json = new LinkedHashMap<>();
    json.put("result", result.name().toLowerCase(Locale.ROOT));
    json.put("message", evicted.message());
    boolean staysShut = result == EvictionResult.HOLD_ENDED && !now;
    json.put("shutForMillis", staysShut ? mostLeft(party.get()) : Long.valueOf(0));
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
    Evictor.Opened opened = evictor.open(name, user(request));
    SeenLock after = observer.look(name);
    Map<String, @Nullable Object> json = new LinkedHashMap<>();
    json.put("opened", opened.opened());
    json.put("message", opened.message());
    json.put("lock", LockDetail.json(observer, after));
    return ConsoleResponse.json(200, json);
  }

  /** The longest time that it keeps the lock; null if only a waiter can detect its death. */
  private static @Nullable Long mostLeft(LockParticipant holder) {
    Duration left = holder.sessionLeft();
    return holder.renewedAgo() == null && left != null ? left.toMillis() : null;
  }

  private ConsoleResponse changed(SeenLock lock, String message) {
    Map<String, @Nullable Object> json =
        new RefusedException(409, "changed", message, "Look at the lock as it is now.").json();
    json.put("lock", LockDetail.json(observer, lock));
    return ConsoleResponse.json(409, json);
  }

  private static Optional<LockParticipant> find(
      List<LockParticipant> parties, String attempt, @Nullable String token) {
    return parties.stream()
        .filter(
            party ->
                party.attempt().equals(attempt)
                    && Objects.equals(LockFormatter.jsonToken(party.token()), token))
        .findFirst();
  }

  /** The user in the application that serves the console; a link has no user. */
  private static @Nullable String user(ConsoleRequest request) {
    Caller caller = request.caller();
    String user = caller == null ? null : caller.user();
    return user == null ? null : OutputSanitizer.text(user);
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

  /** The attempt in the form of {@link LockParticipant#attempt()}. */
  private static String attempt(Map<String, Object> body) {
    String text = text(body, "attempt");
    try {
      return AttemptId.of(text == null ? "" : text).encoded();
    } catch (IllegalArgumentException e) {
      throw RefusedException.badRequest(String.valueOf(e.getMessage()));
    }
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
