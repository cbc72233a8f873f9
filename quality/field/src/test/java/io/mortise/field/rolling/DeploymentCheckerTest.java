package io.mortise.field.rolling;

import static org.assertj.core.api.Assertions.assertThat;

import io.mortise.field.rolling.CronJobs.CronRun;
import io.mortise.field.rolling.Customers.Order;
import io.mortise.field.rolling.DeploymentChecker.Guarantee;
import io.mortise.field.rolling.DeploymentChecker.Schedule;
import io.mortise.field.rolling.DeploymentChecker.Violation;
import io.mortise.field.rolling.ShopDatabase.FencedWrite;
import io.mortise.field.rolling.ShopDatabase.WorkInterval;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.junit.jupiter.api.Test;

/** Histories that keep or break one rule. */
class DeploymentCheckerTest {
  private static final Schedule JOB = new Schedule("job", true, 10_000, 3_000, WorkInterval::tick);
  private static final long END = 100_000;

  private final DeploymentFaultLog faults = new DeploymentFaultLog(Duration.ofSeconds(5));
  private final DeploymentChecker checker =
      new DeploymentChecker(
          faults, new Guarantee(true, true, Duration.ofSeconds(4), Duration.ofSeconds(4)));

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
    checker.judgeStock(1, 5, 5);
    assertFound();
    checker.judgeStock(1, 5, 4);
    assertFound("taken from the stock");
  }

  @Test
  void givenTokenThatFalls_thenItIsFound() {
    checker.judgeTokens(
        "row", List.of(write(1, 7, "host1a"), write(2, 7, "host1a"), write(3, 8, "host2a")));
    assertFound();
    checker.judgeTokens("row", List.of(write(1, 7, "host1a"), write(2, 6, "host2a")));
    assertFound("stale write");
  }

  private static FencedWrite write(long at, long token, String who) {
    return new FencedWrite(at, token, who);
  }

  @Test
  void givenLeaderThatWritesAfterItsSuccessor_thenItIsFound_unlessItsHostWasHarmed() {
    checker.judgeLeaders(List.of());
    assertFound();
    checker.judgeLeaders(List.of(write(60_100, 0, "host1a")));
    assertFound("two leaders: host1a");
    fault(DeploymentFault.FREEZE, "host1", 51_000, 59_000);
    checker.judgeLeaders(List.of(write(60_100, 0, "host1a")));
    assertFound("two leaders: host1a");
  }

  @Test
  void givenLeaderThatWritesAfterItsSuccessorWhileItIsAskedToEnd_thenItIsFound() {
    fault(DeploymentFault.ROLLING_RESTART, "host1a", 59_000, 62_000);
    checker.judgeLeaders(List.of(write(60_100, 0, "host1a")));
    assertFound("two leaders: host1a");
  }

  @Test
  void givenOneTokenOfTwoInstances_thenItIsFound() {
    checker.judgeTokens("row", List.of(write(1, 7, "host1a"), write(2, 7, "host2a")));
    assertFound("one token");
  }

  @Test
  void givenRowThatNobodyWrote_thenThatIsFound() {
    checker.judgeTokens("row", List.of());
    checker.judgeDeliveries(List.of(), END);
    assertFound("no writes of row", "no calls of the partner");
  }

  @Test
  void givenLeaderThatAFailoverForgot_thenItsLateWriteIsExcused() {
    fault(DeploymentFault.FAILOVER, "", 51_000, 59_000);
    checker.judgeLeaders(List.of(write(60_100, 0, "host1a")));
    assertFound();
    fault(DeploymentFault.FULL_DISK, "", 151_000, 159_000);
    checker.judgeLeaders(List.of(write(160_100, 0, "host1a")));
    assertFound("two leaders: host1a");
  }

  @Test
  void givenWorkThatOverlaps_thenItIsFound() {
    List<WorkInterval> works = List.of(job("host1", 1, 0, 900), job("host2", 1, 500, 900));
    checker.judgeOverlaps("job", 2, true, works);
    assertFound();
    checker.judgeOverlaps("job", 1, true, works);
    assertFound("2 at a time");
  }

  @Test
  void givenWorkWithinAnothersThatTakesNoTime_thenItIsFound() {
    WorkInterval instant = new WorkInterval("host2", 1, 1, 10_500, 10_500);
    checker.judgeOverlaps("job", 1, true, List.of(job("host1", 1, 0, 900), instant));
    assertFound("2 at a time");
  }

  @Test
  void givenWorkThatEndsAfterItsInstanceWasAskedToEnd_thenItExcludesOthersUntilThen() {
    fault(DeploymentFault.ROLLING_RESTART, "host1", 10_100, 11_000);
    assertHeldUntil(10_900, false, job("host1", 1, 0, 900));
  }

  /** Two thirds of its session's validity are left when a fault begins; one third is slack. */
  private void assertHeldUntil(long until, boolean local, WorkInterval first) {
    int before = checker.violations().size();
    checker.judgeOverlaps("job", 1, local, List.of(first, job("host2", 1, until - 10_000, 900)));
    assertThat(checker.violations()).hasSize(before);
    checker.judgeOverlaps("job", 1, local, List.of(first, job("host2", 1, until - 10_001, 900)));
    assertThat(checker.violations()).hasSize(before + 1);
  }

  @Test
  void givenHostThatIsHarmed_thenItsWorkExcludesOthersForAThirdOfTheTtl() {
    fault(DeploymentFault.FREEZE, "host1", 11_000, 18_000);
    assertHeldUntil(12_333, true, job("host1", 1, 0, 9_000));
    assertHeldUntil(12_333, true, job("host1", 1, 0, 0));
    assertHeldUntil(12_333, false, job("host1", 1, 0, 0));
    assertHeldUntil(11_500, false, job("host1", 1, 0, 1_500));
  }

  @Test
  void givenHostWhoseConnectionsEnd_thenItsWorkMayEndWithoutARecord() {
    fault(DeploymentFault.MOVE, "host1", 11_000, 11_100);
    assertHeldUntil(11_000, false, job("host1", 1, 0, 0));
    fault(DeploymentFault.ROLLING_RESTART, "host1", 10_500, 10_600);
    assertHeldUntil(10_500, false, job("host1", 1, 0, 0));
  }

  @Test
  void givenWorkThatBeginsWhileItsHostRecovers_andDoesNotEnd_thenItIsNotJudged() {
    fault(DeploymentFault.PARTITION, "host1", 3_000, 9_000);
    checker.judgeOverlaps(
        "job", 1, false, List.of(job("host1", 1, 0, 0), job("host2", 1, 100, 900)));
    assertFound();
  }

  @Test
  void givenOverlapInAPartition_thenItIsFoundWhereNoNetworkDelaysWhatIsSeen() {
    List<WorkInterval> works = List.of(job("host1", 1, 0, 5_000), job("host2", 1, 4_000, 900));
    fault(DeploymentFault.PARTITION, "host1", 11_000, 18_000);
    checker.judgeOverlaps("job", 1, false, works);
    assertFound();
    checker.judgeOverlaps("job", 1, true, works);
    assertFound("2 at a time");
  }

  @Test
  void givenRunInWhichLittleHappened_thenThatIsFound() {
    checker.judgeEffort();
    assertFound("0 orders and 0 ticks are too few");
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
  void givenTickThatTwoHealthyHostsRunAfterAHarmedOne_thenItIsFound() {
    fault(DeploymentFault.FORGET, "host3", 8_000, 8_010);
    judgeTwoTicks(
        job("host3", 1, 0, 400),
        job("host1", 1, 500, 400),
        job("host2", 1, 1_000, 400),
        job("host1", 2, 0, 900));
    assertFound("ran twice");
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
            new Order(1, "host1a", 50_500, 90_000, 500)),
        product -> List.of());
    assertFound();
    checker.judgeOrders(
        List.of(
            new Order(1, "host2a", 10_000, 14_000, 503),
            new Order(2, "host2a", 20_500, 26_500, 200),
            new Order(3, "host2a", 50_500, 64_500, 200)),
        product -> List.of());
    assertFound("5000 may be", "5000 may be", "13000 may be");
  }

  @Test
  void givenOrderThatIsRefusedBesideASlowHost_thenItIsFound_unlessOthersBoughtAllTheTime() {
    fault(DeploymentFault.SLOW, "host1", 50_000, 55_000);
    List<WorkInterval> sold =
        List.of(
            new WorkInterval("host1a", 0, 1, 40_000, 50_100),
            new WorkInterval("host1a", 0, 2, 51_000, 54_000),
            new WorkInterval("host1b", 0, 3, 55_500, 58_000));
    List<Order> refused = List.of(new Order(1, "host2a", 50_200, 60_200, 503));
    checker.judgeOrders(refused, product -> sold);
    assertFound();
    checker.judgeOrders(refused, product -> sold.subList(0, 2));
    checker.judgeOrders(refused, product -> sold.subList(2, 3));
    checker.judgeOrders(List.of(new Order(1, "host2a", 10_000, 20_000, 503)), product -> sold);
    assertFound("13000 may be", "13000 may be", "5000 may be");
  }

  @Test
  void givenOrdersWhileServersRecover_thenTheyMayFail_butAreAnswered() {
    fault(DeploymentFault.FAILOVER, "", 20_000, 24_000);
    fault(DeploymentFault.FULL_DISK, "", 70_000, 74_000);
    fault(DeploymentFault.KILL, "host1a", 70_000, 74_000);
    checker.judgeOrders(
        List.of(
            new Order(1, "host2a", 21_000, 31_000, 503),
            new Order(1, "host2a", 28_000, 34_000, 200),
            new Order(1, "host2a", 71_000, 92_000, 500),
            new Order(1, "host1a", 71_000, 111_000, Customers.NONE)),
        product -> List.of());
    assertFound();
    checker.judgeOrders(
        List.of(
            new Order(1, "host2a", 28_000, 38_000, 503),
            new Order(2, "host2a", 21_000, 22_000, Customers.NONE),
            new Order(3, "host2a", 71_000, 92_001, 200)),
        product -> List.of());
    assertFound("1, instance=host2a", "2, instance=host2a", "3, instance=host2a");
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
