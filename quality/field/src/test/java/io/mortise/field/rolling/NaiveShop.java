package io.mortise.field.rolling;

import static java.nio.charset.StandardCharsets.UTF_8;

import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse.BodyHandlers;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Base64;
import java.util.List;
import java.util.concurrent.Executors;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * The negative control: a shop that trusts its lock, a key of etcd with a lease. The client reports
 * no loss, waiters poll, and writes carry no token. Runs as a separate process.
 */
final class NaiveShop {
  private static final int TTL_SECONDS = 4;
  private static final Duration ANSWER = Duration.ofSeconds(15);
  private static final Pattern LEASE = Pattern.compile("\"ID\":\"(\\d+)\"");

  private final HttpClient http = HttpClient.newHttpClient();
  private final String name;
  private final String etcd;
  private final String database;

  private NaiveShop(String name, String etcd, String database) {
    this.name = name;
    this.etcd = etcd;
    this.database = database;
  }

  /** The command that runs one. */
  static List<String> command(
      List<String> jvmOptions, String name, String address, int port, int etcd, String database) {
    List<String> command = new ArrayList<>(Checkout.java());
    command.add("-Xmx64m");
    command.addAll(jvmOptions);
    command.add("-cp");
    command.add(
        System.getProperty("surefire.test.class.path", System.getProperty("java.class.path")));
    command.add(NaiveShop.class.getName());
    command.addAll(
        List.of(name, address, Integer.toString(port), "http://localhost:" + etcd, database));
    return command;
  }

  /** With name, address, port, etcd and database. */
  public static void main(String[] arguments) throws IOException {
    NaiveShop shop = new NaiveShop(arguments[0], arguments[3], arguments[4]);
    HttpServer server =
        HttpServer.create(new InetSocketAddress(arguments[1], Integer.parseInt(arguments[2])), 50);
    server.setExecutor(Executors.newCachedThreadPool());
    server.createContext("/actuator/health", exchange -> answer(exchange, 200));
    server.createContext("/orders", shop::order);
    server.start();
  }

  private static void answer(HttpExchange exchange, int status) throws IOException {
    exchange.sendResponseHeaders(status, -1);
    exchange.close();
  }

  private void order(HttpExchange exchange) throws IOException {
    int product = Integer.parseInt(exchange.getRequestURI().getQuery().replace("product=", ""));
    int status = 500;
    try {
      sell(product);
      status = 200;
    } catch (SQLException | IOException e) {
      // The customer gets an error.
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
    answer(exchange, status);
  }

  private void sell(int product) throws IOException, InterruptedException, SQLException {
    Matcher lease = LEASE.matcher(ask("lease/grant", "{\"TTL\":\"" + TTL_SECONDS + "\"}"));
    if (!lease.find()) {
      throw new IOException("Etcd gives no lease.");
    }
    String id = "{\"ID\":\"" + lease.group(1) + "\"}";
    Thread renewals = new Thread(() -> renew(id));
    renewals.setDaemon(true);
    renewals.start();
    try {
      String key = '"' + Base64.getEncoder().encodeToString(("p" + product).getBytes(UTF_8)) + '"';
      String taking =
          """
          {"compare":[{"key":%s,"target":"CREATE","create_revision":"0"}],
           "success":[{"requestPut":{"key":%s,"value":"","lease":"%s"}}]}
          """
              .formatted(key, key, lease.group(1));
      while (!ask("kv/txn", taking).contains("\"succeeded\":true")) {
        Thread.sleep(50);
      }
      write(product);
    } finally {
      renewals.interrupt();
      ask("lease/revoke", id);
    }
  }

  private void renew(String lease) {
    try {
      while (true) {
        Thread.sleep(TTL_SECONDS * 1000 / 3);
        ask("lease/keepalive", lease);
      }
    } catch (IOException | InterruptedException e) {
      // The loss is not reported.
    }
  }

  private void write(int product) throws SQLException, InterruptedException {
    try (Connection connection = DriverManager.getConnection(database + "&socketTimeout=15");
        Statement statement = connection.createStatement()) {
      int inStock;
      try (ResultSet rows =
          statement.executeQuery("SELECT in_stock FROM product WHERE id = " + product)) {
        rows.next();
        inStock = rows.getInt(1);
      }
      // Long, so that most faults hit a holder.
      Thread.sleep(1000);
      statement.execute(
          "INSERT INTO purchase (product, quantity, instance) VALUES (%d, 1, '%s')"
              .formatted(product, name));
      statement.execute(
          "UPDATE product SET in_stock = %d WHERE id = %d".formatted(inStock - 1, product));
    }
  }

  private String ask(String path, String body) throws IOException, InterruptedException {
    return http.send(
            HttpRequest.newBuilder(URI.create(etcd + "/v3/" + path))
                .POST(BodyPublishers.ofString(body))
                .timeout(ANSWER)
                .build(),
            BodyHandlers.ofString())
        .body();
  }
}
