package shop;

import io.mortise.Leadership;
import io.mortise.LockClient;
import org.springframework.boot.SpringApplication;
import org.springframework.boot.autoconfigure.SpringBootApplication;
import org.springframework.context.annotation.Bean;
import org.springframework.scheduling.annotation.EnableScheduling;

/** A shop that runs in several instances on one database. */
@SpringBootApplication
@EnableScheduling
public class Shop {
  public static void main(String[] arguments) {
    SpringApplication.run(Shop.class, arguments);
  }

  /** One instance maintains the summary; another takes over when it ends or is lost. */
  @Bean
  Leadership summaryLeader(LockClient locks, Summary summary) {
    return locks.leader("summary", summary::keep);
  }
}
