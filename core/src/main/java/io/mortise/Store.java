package io.mortise;

/**
 * An open store. The store modules make it from a client or a data source of the application:
 * {@code LettuceStore.over(client, options)}, {@code JdbcStore.over(dataSource,
 * "namespace=billing")}. For {@link LockClientBuilder#store}. Its methods are for authors of
 * stores, in {@code io.mortise.spi.LockStore}, the only direct subtype. Thread-safe.
 */
public interface Store extends AutoCloseable {
  /**
   * Closes the connections and threads that the store made. Close its lock clients first. Blocks
   * for seconds at most.
   */
  @Override
  void close();
}
