package io.mortise.spring.boot;

import io.mortise.LockClient;
import io.mortise.UnsupportedByStoreException;
import io.mortise.admin.Eviction;
import io.mortise.admin.EvictionResult;
import io.mortise.admin.LocalWait;
import io.mortise.admin.LocalWait.LocalCaller;
import io.mortise.admin.LocalWaits;
import io.mortise.admin.LockAdmin;
import io.mortise.admin.LockInfo;
import io.mortise.admin.LockParticipant;
import io.mortise.admin.LockQuery;
import io.mortise.admin.Page;
import io.mortise.spi.time.DurationText;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;
import org.springframework.boot.actuate.endpoint.Access;
import org.springframework.boot.actuate.endpoint.InvalidEndpointRequestException;
import org.springframework.boot.actuate.endpoint.annotation.DeleteOperation;
import org.springframework.boot.actuate.endpoint.annotation.Endpoint;
import org.springframework.boot.actuate.endpoint.annotation.ReadOperation;
import org.springframework.boot.actuate.endpoint.annotation.Selector;

/**
 * The actuator's {@code locks}: inspects, and evicts if the application permits it. Operations
 * block for the store's answer.
 *
 * <p>Optional parameters have two annotations: Spring Boot 3 knows only Spring's own.
 */
@Endpoint(id = "locks", defaultAccess = Access.READ_ONLY)
final class LocksEndpoint {
  private final LockClient locks;

  LocksEndpoint(LockClient locks) {
    this.locks = locks;
  }

  /**
   * The store, a page of the locks that are held, waited for or shut, and this application's
   * threads that wait for each other: the store sees one attempt for all of them.
   *
   * @param prefix of their names; null for all
   * @param cursor {@code next} of the page before; null for the first
   */
  @ReadOperation
  Map<String, Object> locks(
      @org.springframework.lang.Nullable @Nullable String prefix,
      @org.springframework.lang.Nullable @Nullable String cursor) {
    Page<LockInfo> page =
        asked(
            admin ->
                admin.list(
                    LockQuery.beginningWith(Objects.requireNonNullElse(prefix, ""))
                        .page(cursor, LockAdmin.MAX_PAGE)));
    Map<String, Object> all = new LinkedHashMap<>();
    all.put("store", locks.admin().store().display());
    all.put("locks", page.items().stream().map(LocksEndpoint::described).toList());
    if (page.next() != null) {
      all.put("next", page.next());
    }
    LocalWaits waits = locks.admin().localWaits();
    all.put("localWaits", waits.waits().stream().map(LocksEndpoint::described).toList());
    all.put(
        "localDeadlocks",
        waits.possibleDeadlocks().stream()
            .map(cycle -> cycle.stream().map(LocksEndpoint::described).toList())
            .toList());
    return all;
  }

  /**
   * One lock; null, which becomes 404, if the store has no record of it.
   *
   * @param name its parts between slashes
   */
  @ReadOperation
  @Nullable Map<String, Object> lock(
      @Selector(match = Selector.Match.ALL_REMAINING) String[] name) {
    return asked(admin -> admin.find(name(name))).map(LocksEndpoint::described).orElse(null);
  }

  /**
   * Ends a hold or a wait, and returns its kind.
   *
   * @param name the lock's parts between slashes
   * @param attempt of the holder or waiter, as a read or a message shows it
   * @param how to evict; null for {@link Eviction#CLOSE}
   */
  @DeleteOperation
  Map<String, Object> evict(
      @Selector(match = Selector.Match.ALL_REMAINING) String[] name,
      String attempt,
      @org.springframework.lang.Nullable @Nullable Eviction how) {
    EvictionResult result =
        asked(
            admin ->
                admin.evict(name(name), attempt, Objects.requireNonNullElse(how, Eviction.CLOSE)));
    return Map.of("result", result.name());
  }

  /** Errors in the request become 400, with the reason. */
  private <T> T asked(Function<LockAdmin, T> question) {
    try {
      return question.apply(locks.admin());
    } catch (IllegalArgumentException | UnsupportedByStoreException e) {
      String message = String.valueOf(e.getMessage());
      throw new InvalidEndpointRequestException(message, message, e);
    }
  }

  private static String name(String[] parts) {
    return String.join("/", parts);
  }

  private static Map<String, Object> described(LockInfo lock) {
    Map<String, Object> all = new LinkedHashMap<>();
    all.put("name", lock.name());
    all.put("state", lock.state().name());
    lock.permits().ifPresent(permits -> all.put("permits", permits));
    // Text: JavaScript rounds numbers of more than 53 bits.
    all.put("lastToken", Long.toString(lock.lastToken()));
    all.put("shutForMillis", lock.shutFor().toMillis());
    all.put("holders", described(lock.holders()));
    all.put("waiters", described(lock.waiters()));
    return all;
  }

  private static Map<String, Object> described(LocalWait wait) {
    Map<String, Object> all = new LinkedHashMap<>();
    all.put("name", wait.name());
    all.put("waiter", wait.waiter().toString());
    Duration waited = wait.waited();
    if (waited != null) {
      all.put("waitedMillis", waited.toMillis());
    }
    all.put("holders", wait.holders().stream().map(LocalCaller::toString).toList());
    String elsewhere = wait.heldElsewhere();
    if (elsewhere != null) {
      all.put("heldElsewhere", elsewhere);
    }
    return all;
  }

  private static List<Map<String, Object>> described(List<LockParticipant> participants) {
    return participants.stream().map(LocksEndpoint::described).toList();
  }

  private static Map<String, Object> described(LockParticipant participant) {
    Map<String, Object> all = new LinkedHashMap<>();
    all.put("attempt", participant.attempt());
    LockParticipant.ClientInfo client = participant.client();
    if (client != null) {
      all.put("host", client.host());
      all.put("pid", client.pid());
      all.put("client", client.name());
    }
    if (!participant.label().isEmpty()) {
      all.put("label", participant.label());
    }
    all.put("share", participant.share().toString());
    if (participant.token() != 0) {
      all.put("token", Long.toString(participant.token()));
    }
    if (!participant.since().isZero()) {
      all.put("sinceMillis", participant.since().toMillis());
    }
    Duration sessionLeft = participant.sessionLeft();
    if (sessionLeft != null) {
      all.put("sessionLeftMillis", sessionLeft.toMillis());
    }
    Duration renewedAgo = participant.renewedAgo();
    if (renewedAgo != null) {
      all.put("renewedAgoMillis", renewedAgo.toMillis());
    }
    if (participant.atMostLeft() != null) {
      all.put("atMostLeftMillis", participant.atMostLeft().toMillis());
    }
    if (participant.sticky()) {
      all.put("sticky", true);
    }
    Duration idleLeft = participant.idleLeft();
    if (idleLeft != null) {
      all.put("idle", "kept for " + DurationText.format(idleLeft));
      all.put("idleLeftMillis", idleLeft.toMillis());
    }
    return all;
  }
}
