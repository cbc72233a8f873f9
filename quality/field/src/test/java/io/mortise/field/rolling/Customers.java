package io.mortise.field.rolling;

import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse.BodyHandlers;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;

/** Customers that order continuously, from another instance each time. Thread-safe. */
final class Customers implements AutoCloseable {
  private static final int EACH = 2;
  private static final Duration ANSWER = Duration.ofSeconds(40);
  private static final Duration CONNECT = Duration.ofSeconds(5);

  /** Instead of a status: no answer. */
  static final int NONE = -1;

  /**
   * One order.
   *
   * @param status of HTTP, or {@link #NONE}
   */
  record Order(int product, String instance, long asked, long answered, int status) {
    long millis() {
      return answered - asked;
    }
  }

  private final HttpClient http = HttpClient.newBuilder().connectTimeout(CONNECT).build();
  private final Map<String, URI> instances;
  private final List<String> names;
  private final ConcurrentLinkedQueue<Order> orders = new ConcurrentLinkedQueue<>();
  private final ExecutorService threads = Executors.newCachedThreadPool();
  private volatile boolean open = true;

  /**
   * Starts the customers' threads.
   *
   * @param instances the addresses, by the instances' names
   */
  Customers(Map<String, URI> instances, long seed) {
    this.instances = instances;
    this.names = List.copyOf(instances.keySet());
    for (int product = 1; product <= ShopDatabase.PRODUCTS; product++) {
      for (int i = 0; i < EACH; i++) {
        int wanted = product;
        Random random = new Random(seed * 31 + (long) product * EACH + i);
        threads.execute(() -> buy(wanted, random));
      }
    }
  }

  private void buy(int product, Random random) {
    while (open) {
      String instance = names.get(random.nextInt(names.size()));
      long asked = DeploymentFaultLog.now();
      int status = order(instance, product);
      orders.add(new Order(product, instance, asked, DeploymentFaultLog.now(), status));
      try {
        Thread.sleep(100 + random.nextInt(100));
      } catch (InterruptedException e) {
        return;
      }
    }
  }

  private int order(String instance, int product) {
    try {
      return http.send(
              HttpRequest.newBuilder(instances.get(instance).resolve("/orders?product=" + product))
                  .POST(BodyPublishers.noBody())
                  .timeout(ANSWER)
                  .build(),
              BodyHandlers.discarding())
          .statusCode();
    } catch (IOException e) {
      return NONE;
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      return NONE;
    }
  }

  /** All orders whose answer or failure has arrived. */
  List<Order> orders() {
    return new ArrayList<>(orders);
  }

  /** Waits for the last answers. */
  @Override
  public void close() {
    open = false;
    RollingDeployment.end(threads, ANSWER.toSeconds() + 10);
  }
}
