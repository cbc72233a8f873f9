package io.mortise.spring.boot;

import io.lettuce.core.RedisClient;
import io.lettuce.core.RedisException;
import org.jspecify.annotations.Nullable;
import org.springframework.beans.factory.DisposableBean;
import org.springframework.data.redis.connection.RedisSocketConfiguration;
import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;

/**
 * Opens a client with the settings of a {@code LettuceConnectionFactory}. The factory's own client
 * ends in a phase of the life cycle, while executors may still work; this client ends when the
 * beans that use it are destroyed.
 */
final class LettuceClientSource implements DisposableBean {
  private final LettuceConnectionFactory model;
  private volatile @Nullable LettuceConnectionFactory own;

  LettuceClientSource(LettuceConnectionFactory model) {
    this.model = model;
  }

  /**
   * Opens the client. Once. Blocks.
   *
   * @throws LockStoreChoiceException if the factory leads to several servers
   */
  RedisClient open() {
    // Before its turn in the life cycle it may have no client.
    model.start();
    if (!(model.getNativeClient() instanceof RedisClient modelClient)
        || model.isRedisSentinelAware()
        || !hasAddress(modelClient)) {
      throw new LockStoreChoiceException(
          "The LettuceConnectionFactory does not lead to a single server.",
          "Set mortise.url, such as redis-cluster://host:port,host:port or"
              + " redis-sentinel://host:port/master.");
    }
    RedisSocketConfiguration socket = model.getSocketConfiguration();
    LettuceConnectionFactory copy =
        new LettuceConnectionFactory(
            socket == null ? model.getStandaloneConfiguration() : socket,
            model.getClientConfiguration());
    copy.afterPropertiesSet();
    copy.start();
    own = copy;
    return (RedisClient) copy.getRequiredNativeClient();
  }

  /**
   * The client of a static list of primary and replicas has none, and the list is not accessible.
   */
  private static boolean hasAddress(RedisClient client) {
    try {
      client.connect().close();
      return true;
    } catch (RedisException e) {
      // The store gives a better message.
      return true;
    } catch (IllegalStateException e) {
      return false;
    }
  }

  @Override
  public void destroy() {
    LettuceConnectionFactory opened = own;
    if (opened != null) {
      opened.destroy();
    }
  }
}
