package io.mortise.spring;

import io.mortise.DistributedLock;
import io.mortise.LockClient;
import java.util.Arrays;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;

/**
 * The overhead of {@link Locked} over a manual {@code withLock}: uncontended calls on the store in
 * memory, in alternating blocks; the median counts. Run it by hand, on an idle machine.
 */
final class LockedCostMain {
  private static final int CALLS = 20_000;
  private static final int BLOCKS = 31;

  private LockedCostMain() {}

  record Invoice(long id) {}

  static class Service {
    @Locked("cost")
    public long constant(long id) {
      return id;
    }

    @Locked("cost/#{#id}")
    public long parameter(long id) {
      return id;
    }

    @Locked("cost/#{#invoice.id}")
    public long expression(Invoice invoice) {
      return invoice.id();
    }

    @Locked(value = "cost", interrupt = false)
    public long constantWithoutInterrupt(long id) {
      return id;
    }

    public long none(long id) {
      return id;
    }
  }

  @Configuration(proxyBeanMethods = false)
  static class Config {
    @Bean
    Service service() {
      return new Service();
    }
  }

  private interface Call {
    long run(long id) throws Exception;
  }

  public static void main(String[] arguments) throws Exception {
    try (SpringApp app = SpringApp.start(Config.class)) {
      Service service = app.bean(Service.class);
      LockClient locks = app.bean(LockClient.class);
      DistributedLock lock = locks.lock("cost");
      String[] names = {
        "withLock by hand",
        "withLock by hand, name from a number",
        "lease.run by hand",
        "@Locked, literal name",
        "@Locked, #{#id}",
        "@Locked, #{#invoice.id}",
        "@Locked, literal name, no interrupt",
        "LockTemplate"
      };
      LockTemplate template = LockTemplate.over(locks);
      Call[] calls = {
        id -> lock.<Long, RuntimeException>withLock(() -> service.none(id)),
        id -> locks.lock("cost/" + id).<Long, RuntimeException>withLock(() -> service.none(id)),
        id ->
            lock.<Long, RuntimeException>callWithLease(
                lease -> lease.<Long, RuntimeException>run(() -> service.none(id))),
        service::constant,
        service::parameter,
        id -> service.expression(new Invoice(id)),
        service::constantWithoutInterrupt,
        id -> template.<Long, RuntimeException>withLock("cost", () -> service.none(id))
      };
      double[][] nanos = new double[calls.length][BLOCKS];
      long sum = 0;
      for (int block = -10; block < BLOCKS; block++) {
        for (int which = 0; which < calls.length; which++) {
          long begin = System.nanoTime();
          for (int i = 0; i < CALLS; i++) {
            sum += calls[which].run(i % 1000);
          }
          double each = (System.nanoTime() - begin) / (double) CALLS;
          if (block >= 0) {
            nanos[which][block] = each;
          }
        }
      }
      for (int which = 0; which < calls.length; which++) {
        Arrays.sort(nanos[which]);
        System.out.printf("%-40s %8.0f ns%n", names[which], nanos[which][BLOCKS / 2]);
      }
      System.out.println("(" + sum + ")");
    }
  }
}
