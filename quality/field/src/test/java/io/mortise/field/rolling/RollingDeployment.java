package io.mortise.field.rolling;

import io.mortise.field.rolling.DeploymentChecker.Guarantee;
import io.mortise.field.rolling.DeploymentChecker.Schedule;
import io.mortise.field.rolling.DeploymentChecker.Violation;
import io.mortise.testserver.RedisServer;
import java.io.IOException;
import java.net.URI;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.Deque;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;

/**
 * Three hosts with two instances of the shop and a cron each, customers, and faults in the order of
 * the seed. For one thread.
 */
final class RollingDeployment {
  private static final int HOSTS = 3;

  /** The pause between two faults, so that there are times without faults. */
  private static final Duration REST = Duration.ofSeconds(25);

  private static final Duration RECOVERY = Duration.ofSeconds(20);
  private static final Duration WARM_UP = Duration.ofSeconds(40);
  private static final Duration FULL = Duration.ofSeconds(8);
  private static final Duration SLOW = Duration.ofSeconds(20);
  private static final Schedule REPORTS =
      new Schedule("report", false, 20_000, 10_000, work -> work.tick() / 20);

  /**
   * The parameters of a run.
   *
   * @param before the checkout of the first instances; {@code now} for no upgrade
   * @param naive whether instances of {@link NaiveShop} stand in for those of the shop
   */
  record Plan(
      Duration time, long seed, Duration ttl, Checkout before, Checkout now, boolean naive) {}

  /** The violations and the page of a run. */
  record Result(List<Violation> violations, Path page, String summary) {}

  private final Plan plan;
  private final LockServers servers;
  private final ShopDatabase shopDatabase;
  private final Path folder;
  private final Consumer<String> tell;
  private final Random random;
  private final DeploymentFaultLog faults = new DeploymentFaultLog(RECOVERY);
  private final Deque<AutoCloseable> opened = new ArrayDeque<>();
  private final List<SimulatedHost> hosts = new ArrayList<>();
  private final List<ShopInstance> instances = new ArrayList<>();
  private volatile Checkout checkout;

  /**
   * Creates a deployment without starting it.
   *
   * @param folder for logs and the page
   * @param tell receives progress, line by line
   */
  RollingDeployment(
      Plan plan,
      LockServers servers,
      ShopDatabase shopDatabase,
      Path folder,
      Consumer<String> tell) {
    this.plan = plan;
    this.servers = servers;
    this.shopDatabase = shopDatabase;
    this.folder = folder;
    this.tell = tell;
    this.random = new Random(plan.seed());
    this.checkout = plan.before();
  }

  /** Runs the deployment. Blocks for the plan's time and some minutes. Leaves no process behind. */
  Result run() throws Exception {
    DeploymentChecker checker =
        new DeploymentChecker(
            faults,
            new Guarantee(
                servers.keepsAtLeast(),
                servers.forgetsOnFailover(),
                plan.ttl(),
                servers.expiry(plan.ttl())));
    long from = DeploymentFaultLog.now();
    Thread watch = new Thread(faults::watchMachine);
    watch.start();
    try {
      startHosts();
      startInstances();
      Customers customers = opened(new Customers(addresses(), plan.seed()));
      CronJobs cron = opened(new CronJobs(hosts, servers, plan.ttl(), folder, () -> checkout));
      tell.accept("all instances are up");
      from = DeploymentFaultLog.now();
      rest(WARM_UP);
      if (!plan.before().equals(plan.now())) {
        upgrade();
      }
      ProcessFootprint first = read();
      HostProcess veteran = veteran().process();
      try {
        injectFaults(from + plan.time().toMillis());
      } catch (AssertionError | IllegalStateException e) {
        checker.add(DeploymentFaultLog.now(), "no recovery: " + e.getMessage());
      }
      rest(RECOVERY.plus(WARM_UP));
      ProcessFootprint last = read();
      if (veteran != veteran().process()) {
        checker.add(DeploymentFaultLog.now(), veteran().name() + " ended by itself");
      }
      customers.close();
      cron.close();
      checker.judgeGrowth(first, last);
      checker.judgeOrders(customers.orders(), shopDatabase::orders);
      checker.judgeCron(cron.runs());
      checker.judgeTicks(CronJobs.SCHEDULE, cron.jobs(), from, DeploymentFaultLog.now());
      judgeRows(checker, from);
      checker.judgeEffort();
      DeploymentPage page = new DeploymentPage(plan, faults.windows(), customers.orders());
      String summary = page.summary(cron.runs().size(), checker, first, last);
      return new Result(
          checker.violations(), page.write(folder, summary, checker.violations()), summary);
    } finally {
      watch.interrupt();
      close();
    }
  }

  private void judgeRows(DeploymentChecker checker, long from) {
    shopDatabase
        .stock()
        .forEach(stock -> checker.judgeStock(stock.product(), stock.sold(), stock.taken()));
    if (plan.naive()) {
      return;
    }
    for (int product = 1; product <= ShopDatabase.PRODUCTS; product++) {
      checker.judgeTokens("product/" + product, shopDatabase.writes("product/" + product));
      checker.judgeOverlaps("orders of a product", 1, false, shopDatabase.orders(product));
    }
    checker.judgeTokens("summary/1", shopDatabase.writes("summary/1"));
    checker.judgeLeaders(shopDatabase.writes("summary/refused"));
    checker.judgeDeliveries(shopDatabase.deliveries(), DeploymentFaultLog.now());
    checker.judgeTicks(REPORTS, shopDatabase.reports(), from, DeploymentFaultLog.now());
  }

  private <T extends AutoCloseable> T opened(T resource) {
    opened.push(resource);
    return resource;
  }

  private void startHosts() throws IOException {
    List<Integer> ports = new ArrayList<>(servers.ports());
    ports.add(shopDatabase.port());
    int network = 100 + new Random().nextInt(100);
    for (int number = 1; number <= HOSTS; number++) {
      hosts.add(opened(new SimulatedHost(number, network, folder, ports)));
    }
    tell.accept("faults: " + possibleFaults());
    tell.accept(hosts.get(0).isIsolated() ? "hosts are network namespaces" : "hosts share one");
  }

  private void startInstances() throws IOException {
    for (SimulatedHost host : hosts) {
      for (String letter : List.of("a", "b")) {
        ShopInstance instance =
            new ShopInstance(
                host.name() + letter, host, RedisServer.freePort(), folder, this::command);
        instances.add(instance);
        instance.start();
      }
    }
    supervise();
  }

  private List<String> command(String name, String address, int port, List<String> jvmOptions)
      throws IOException {
    if (plan.naive()) {
      return NaiveShop.command(
          jvmOptions, name, address, port, servers.ports().get(0), shopDatabase.url());
    }
    List<String> command = new ArrayList<>(checkout.shop(jvmOptions));
    List<String> properties = new ArrayList<>(shopDatabase.properties(name));
    properties.addAll(
        List.of(
            "shop.instance=" + name,
            "server.address=" + address,
            "server.port=" + port,
            "server.tomcat.basedir=" + folder.resolve(name + ".tomcat"),
            "mortise.url=" + servers.url(),
            "mortise.ttl=" + plan.ttl().toMillis() + "ms",
            "shop.report.cron=*/20 * * * * *",
            // Longer than the TTL, so that it needs renewals.
            "shop.report.takes=" + plan.ttl().toMillis() * 3 / 2 + "ms",
            "shop.report.at-least=" + (servers.keepsAtLeast() ? "10s" : ""),
            "spring.sql.init.mode=never"));
    properties.forEach(property -> command.add("--" + property));
    return command;
  }

  private Map<String, URI> addresses() {
    Map<String, URI> addresses = new LinkedHashMap<>();
    instances.forEach(instance -> addresses.put(instance.name(), instance.address()));
    return addresses;
  }

  /** The instance that is never restarted, so that leaks accumulate in it. */
  private ShopInstance veteran() {
    return instances.get(instances.size() - 1);
  }

  private ProcessFootprint read() throws IOException, InterruptedException {
    ProcessFootprint reading = ProcessFootprint.take(veteran().process(), servers);
    tell.accept("kept by " + veteran().name() + ": " + reading.figures());
    return reading;
  }

  private static void rest(Duration time) throws InterruptedException {
    Thread.sleep(time.toMillis());
  }

  /** Upgrades the instances one by one; one fault hits instances of both versions. */
  private void upgrade() throws Exception {
    checkout = plan.now();
    int half = instances.size() / 2;
    roll(DeploymentFault.UPGRADE, instances.subList(0, half));
    strike(random.nextBoolean() ? DeploymentFault.KILL : DeploymentFault.PARTITION, host());
    supervise();
    rest(RECOVERY);
    roll(DeploymentFault.UPGRADE, instances.subList(half, instances.size()));
    rest(RECOVERY);
  }

  /** Injects the faults one by one, then in pairs, and over again. */
  private void injectFaults(long end) throws Exception {
    List<DeploymentFault> left = new ArrayList<>();
    boolean together = true;
    while (DeploymentFaultLog.now() < end) {
      if (left.isEmpty()) {
        left.addAll(possibleFaults());
        Collections.shuffle(left, random);
        together = !together;
      }
      DeploymentFault one = left.remove(0);
      // The servers have one fault at a time: none can be restarted on a full disk.
      Optional<DeploymentFault> second =
          left.stream().filter(each -> !(one.isOfServers() && each.isOfServers())).findFirst();
      if (together && second.isPresent()) {
        DeploymentFault other = second.get();
        left.remove(other);
        SimulatedHost host = host();
        SimulatedHost next = hosts.get((hosts.indexOf(host) + 1) % HOSTS);
        both(() -> strike(one, host), () -> strike(other, next));
      } else {
        strike(one, host());
      }
      supervise();
      rest(RECOVERY.plus(REST));
    }
  }

  private List<DeploymentFault> possibleFaults() {
    return Arrays.stream(DeploymentFault.values())
        .filter(DeploymentFault::isInjected)
        .filter(fault -> !fault.isOfServers() || servers.can().contains(fault))
        .toList();
  }

  private static void both(Callable<Void> one, Callable<Void> other) throws Exception {
    ExecutorService threads = Executors.newFixedThreadPool(2);
    try {
      for (Future<Void> done : threads.invokeAll(List.of(one, other))) {
        done.get();
      }
    } catch (ExecutionException e) {
      throw new IllegalStateException(e.getCause());
    } finally {
      threads.shutdown();
    }
  }

  /** Awaits tasks that have been asked to end, then interrupts the rest. */
  static void end(ExecutorService threads, long seconds) {
    threads.shutdown();
    try {
      threads.awaitTermination(seconds, TimeUnit.SECONDS);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
    threads.shutdownNow();
  }

  private SimulatedHost host() {
    return hosts.get(random.nextInt(HOSTS));
  }

  /** Restarts instances that have ended by themselves, and waits for all, within one bound. */
  private void supervise() {
    long from = System.nanoTime();
    for (ShopInstance instance : instances) {
      instance.awaitUp(ShopInstance.START.minusNanos(System.nanoTime() - from));
    }
  }

  private Void strike(DeploymentFault fault, SimulatedHost host) throws Exception {
    Duration overlong = plan.ttl().multipliedBy(2);
    Set<String> victims = Set.of(host.name());
    tell.accept(fault.text() + ", " + host.name());
    switch (fault) {
      case ROLLING_RESTART ->
          roll(fault, instances.stream().filter(each -> each != veteran()).toList());
      case KILL -> {
        ShopInstance target =
            instances.stream()
                .filter(each -> each.host() == host && each != veteran())
                .findFirst()
                .orElseThrow();
        faults.record(fault, Set.of(target.name()), () -> target.kill(plan.ttl()));
      }
      case FREEZE ->
          faults.record(
              fault,
              victims,
              () -> {
                host.freeze();
                rest(overlong);
                host.thaw();
              });
      case PARTITION ->
          faults.record(
              fault,
              victims,
              () -> {
                host.partition();
                rest(overlong);
                host.reconnect();
              });
      case SLOW ->
          faults.record(
              fault,
              victims,
              () -> {
                host.slowDown();
                rest(SLOW);
                host.speedUp();
              });
      case FORGET -> faults.record(fault, victims, host::forgetConnections);
      case MOVE -> faults.record(fault, victims, host::moveNames);
      case FAILOVER -> faults.record(fault, Set.of(), servers::failOver);
      case CERTIFICATE -> faults.record(fault, Set.of(), servers::renewCertificate);
      case UPGRADE, STALL -> throw new IllegalArgumentException(fault.text());
      case FULL_DISK -> faults.record(fault, Set.of(), () -> servers.fillDisk(FULL));
    }
    return null;
  }

  private void roll(DeploymentFault fault, List<ShopInstance> chosen) throws Exception {
    for (ShopInstance instance : chosen) {
      faults.record(fault, Set.of(instance.name()), instance::restart);
    }
  }

  private void close() throws Exception {
    while (!opened.isEmpty()) {
      opened.pop().close();
    }
  }
}
