package io.mortise.field.rolling;

import static org.assertj.core.api.Assertions.assertThat;

import io.mortise.field.rolling.CronJobs.CronRun;
import io.mortise.field.rolling.Customers.Order;
import io.mortise.field.rolling.DeploymentChecker.Schedule;
import io.mortise.field.rolling.DeploymentChecker.Violation;
import io.mortise.field.rolling.ShopDatabase.FencedWrite;
import io.mortise.field.rolling.ShopDatabase.WorkInterval;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.junit.jupiter.api.Test;

/** Histories that are good or bad in one rule. */
class DeploymentCheckerTest {
  private static final Schedule JOB = new Schedule("job", true, 10_000, 3_000, WorkInterval::tick);
  private static final long END = 100_000;

  private final DeploymentFaultLog faults = new DeploymentFaultLog(Duration.ofSeconds(5));
  private final DeploymentChecker checker =
      new DeploymentChecker(faults, true, true, Duration.ofSeconds(4));

  private void fault(DeploymentFault fault, String victim, long from, long until) {
    faults.add(new FaultWindow(fault, victim.isEmpty() ? Set.of() : Set.of(victim), from, until));
  }

  private void assertFound(String... texts) {
    List<String> found = checker.violations().stream().map(Violation::text).toList();
    assertThat(found).hasSameSizeAs(texts);
    for (int i = 0; i < texts.length; i++) {
      assertThat(found.get(i)).contains(texts[i]);
    }
  }

  private static WorkInterval job(String host, long tick, long late, long took) {
    long from = tick * 10_000 + late;
    return new WorkInterval(host, tick, tick, from, took == 0 ? 0 : from + took);
  }

  private void judgeTwoTicks(WorkInterval... works) {
    checker.judgeTicks(JOB, List.of(works), 9_000, 30_000);
  }

  @Test
  void givenStockThatDiffers_thenItIsFound() {
    checker.judgeStock(5, 5);
    assertFound();
    checker.judgeStock(5, 4);
    assertFound("taken from the stock");
  }

  @Test
  void givenTokenThatFalls_thenItIsFound() {
    checker.judgeTokens(
        "row", List.of(new FencedWrite(1, 7), new FencedWrite(2, 7), new FencedWrite(3, 8)));
    assertFound();
    checker.judgeTokens("row", List.of(new FencedWrite(1, 7), new FencedWrite(2, 6)));
    assertFound("stale write");
  }

  @Test
  void givenWorkThatOverlaps_thenItIsFound_unlessItsHostWasHarmedMeanwhile() {
    List<WorkInterval> works = List.of(job("host1", 1, 0, 900), job("host2", 1, 500, 900));
    checker.judgeOverlaps("job", 2, true, works);
    assertFound();
    checker.judgeOverlaps("job", 1, true, works);
    assertFound("2 at a time");
    fault(DeploymentFault.FREEZE, "host1", 10_100, 10_700);
    checker.judgeOverlaps("job", 1, true, works);
    assertFound("2 at a time");
  }

  @Test
  void givenOverlapInAPartition_thenItIsFound_unlessTheNetworkDelaysWhatIsSeen() {
    List<WorkInterval> works = List.of(job("host1", 1, 0, 900), job("host2", 1, 500, 900));
    fault(DeploymentFault.PARTITION, "host1", 10_100, 10_700);
    checker.judgeOverlaps("job", 1, false, works);
    assertFound();
    checker.judgeOverlaps("job", 1, true, works);
    assertFound("2 at a time");
  }

  @Test
  void givenRunInWhichLittleHappened_thenThatIsFound() {
    checker.judgeEffort(5_000);
    assertFound("0 ticks are too few");
  }

  @Test
  void givenOverlapAfterAServersFault_thenOnlyAFailoverOfAStoreThatForgetsExcusesIt() {
    List<WorkInterval> works = List.of(job("host1", 1, 0, 900), job("host2", 1, 500, 900));
    fault(DeploymentFault.FULL_DISK, "", 10_100, 10_200);
    checker.judgeOverlaps("job", 1, true, works);
    assertFound("2 at a time");
    fault(DeploymentFault.FAILOVER, "", 10_100, 10_200);
    checker.judgeOverlaps("job", 1, true, works);
    assertFound("2 at a time");
  }

  @Test
  void givenTickWithTwoRuns_thenItIsFound_unlessTheSecondWasLate() {
    judgeTwoTicks(job("host1", 1, 0, 900), job("host2", 1, 4_000, 900), job("host1", 2, 0, 900));
    assertFound();
    judgeTwoTicks(job("host1", 1, 0, 900), job("host2", 1, 2_000, 900), job("host1", 2, 0, 900));
    assertFound("ran twice");
    assertThat(checker.calmTicks()).isEqualTo(2);
  }

  @Test
  void givenTickWithoutARun_thenItIsFound_unlessSomethingWasWrong() {
    judgeTwoTicks(job("host1", 2, 0, 900));
    assertFound("did not run");
    fault(DeploymentFault.ROLLING_RESTART, "host3", 10_500, 10_600);
    judgeTwoTicks(job("host1", 2, 0, 900));
    assertFound("did not run");
  }

  @Test
  void givenWorkThatDoesNotEnd_thenItIsFound_unlessItsHostOrTheServersWereHarmed() {
    checker.judgeDeliveries(List.of(job("host1", 1, 0, 0)), END);
    assertFound("did not end");
    fault(DeploymentFault.KILL, "host1a", 10_300, 10_400);
    checker.judgeDeliveries(List.of(job("host1a", 1, 0, 0)), END);
    assertFound("did not end");
  }

  @Test
  void givenOrders_thenEachHasTheBoundOfItsSituation() {
    fault(DeploymentFault.ROLLING_RESTART, "host1a", 20_000, 21_000);
    fault(DeploymentFault.KILL, "host1a", 50_000, 51_000);
    checker.judgeOrders(
        List.of(
            new Order(1, "host2a", 10_000, 14_000, 200),
            new Order(1, "host1a", 20_500, 20_600, Customers.NONE),
            new Order(1, "host2a", 50_500, 60_500, 200),
            new Order(1, "host1a", 50_500, 90_000, 500)));
    assertFound();
    checker.judgeOrders(
        List.of(
            new Order(1, "host2a", 10_000, 14_000, 503),
            new Order(2, "host2a", 20_500, 26_500, 200),
            new Order(3, "host2a", 50_500, 64_500, 200)));
    assertFound("5000 may be", "5000 may be", "13000 may be");
  }

  @Test
  void givenCronThatFails_thenItIsFound_unlessSomethingWasWrong() {
    checker.judgeCron(List.of(new CronRun(1, "host1", 1_000, 75), new CronRun(2, "h", 1_000, 0)));
    assertFound();
    checker.judgeCron(List.of(new CronRun(1, "host1", 1_000, 69)));
    assertFound("ended with 69");
    fault(DeploymentFault.FAILOVER, "", 2_000, 3_000);
    checker.judgeCron(List.of(new CronRun(1, "host1", 1_000, 69)));
    assertFound("ended with 69");
  }

  @Test
  void givenFiguresThatGrow_thenTheyAreFound() {
    ProcessFootprint first = new ProcessFootprint(Map.of("threads", 40L));
    checker.judgeGrowth(first, new ProcessFootprint(Map.of("threads", 44L)));
    assertFound();
    checker.judgeGrowth(first, new ProcessFootprint(Map.of("threads", 60L)));
    assertFound("threads grew from 40 to 60");
  }
}
