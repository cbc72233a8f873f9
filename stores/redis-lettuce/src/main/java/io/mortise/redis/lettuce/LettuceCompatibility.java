package io.mortise.redis.lettuce;

import io.lettuce.core.ClientOptions;
import io.lettuce.core.Delegating;
import io.lettuce.core.MaintNotificationsConfig;
import java.lang.reflect.Field;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The differences between Lettuce 6.6, the oldest supported version, and the one that this module
 * is compiled with. Uses of newer classes are in a class of their own, which an older Lettuce never
 * loads successfully.
 */
final class LettuceCompatibility {
  private static final Logger log = LoggerFactory.getLogger(LettuceCompatibility.class);

  private LettuceCompatibility() {}

  /** Disables subscriptions to maintenance announcements; Lettuce 6 has none. */
  static void disableMaintenanceNotifications(ClientOptions.Builder options) {
    try {
      Maintenance.disable(options);
    } catch (LinkageError withoutThem) {
      log.trace("This Lettuce has no maintenance notifications.", withoutThem);
    }
  }

  /** The object to which a writer passes commands; null if unknown. */
  static @Nullable Object delegate(Object writer) {
    try {
      return Delegation.of(writer);
    } catch (LinkageError withoutIt) {
      return fieldOf(writer);
    }
  }

  /** Lettuce 6 keeps it in a private field of that name. */
  private static @Nullable Object fieldOf(Object writer) {
    try {
      Field field = writer.getClass().getDeclaredField("delegate");
      field.setAccessible(true);
      return field.get(writer);
    } catch (ReflectiveOperationException | RuntimeException e) {
      log.debug("Cannot find the channel behind {}.", writer.getClass().getName(), e);
      return null;
    }
  }

  private static final class Maintenance {
    static void disable(ClientOptions.Builder options) {
      options.maintNotificationsConfig(MaintNotificationsConfig.disabled());
    }
  }

  private static final class Delegation {
    static @Nullable Object of(Object writer) {
      return writer instanceof Delegating<?> before ? before.getDelegate() : null;
    }
  }
}
