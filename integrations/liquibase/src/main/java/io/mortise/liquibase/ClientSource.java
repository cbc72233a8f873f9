package io.mortise.liquibase;

import io.mortise.LockClient;

/** The source of a lock service's client. */
interface ClientSource {
  /**
   * A client for one run. Blocks if it has to connect.
   *
   * @throws io.mortise.LockException if the store cannot be reached or used
   * @throws IllegalArgumentException if the URL is wrong
   */
  LockClient take();

  /** The run is over. */
  void giveBack(LockClient client);

  /** The application's client, which stays open. */
  static ClientSource shared(LockClient client) {
    return new ClientSource() {
      @Override
      public LockClient take() {
        return client;
      }

      @Override
      public void giveBack(LockClient given) {}
    };
  }

  /** A client for each run, so that no connection stays behind. */
  static ClientSource connecting(String url) {
    return new ClientSource() {
      @Override
      public LockClient take() {
        return LockClient.builder().url(url).name("liquibase").build();
      }

      @Override
      public void giveBack(LockClient given) {
        given.close();
      }
    };
  }
}
