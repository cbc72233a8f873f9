package io.mortise.console.internal.api;

import io.mortise.admin.LockParticipant.ClientInfo;
import java.time.Duration;
import java.time.Instant;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** Parts shared by several answers. */
final class JsonParts {
  private JsonParts() {}

  static @Nullable Long millis(@Nullable Duration duration) {
    return duration == null ? null : duration.toMillis();
  }

  static @Nullable Long at(@Nullable Instant instant) {
    return instant == null ? null : instant.toEpochMilli();
  }

  static void putClient(Map<String, @Nullable Object> json, @Nullable ClientInfo client) {
    json.put("host", client == null ? null : client.host());
    json.put("pid", client == null || client.pid() == 0 ? null : client.pid());
    json.put("client", client == null ? null : client.name());
  }
}
