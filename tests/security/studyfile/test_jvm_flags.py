"""JVM flags that run programs, read or write files, load code or listen are refused; flags that tune are not."""

from __future__ import annotations

import subprocess

import pytest

from density_study.cluster.render.settable import flag_fault
from density_study.cluster.stack import find_java

EVIL = """
-XX:OnError=/x -XX:OnError=reboot -XX:OnError=7 -XX:OnOutOfMemoryError=/x -XX:OnOutOfMemoryError=kill
-XX:Flags=/x -XX:Flags=x -XX:+ReadVMOptionsFile -XX:VMOptionsFile=/x -XX:VMOptionsFile=x -XX:ErrorFile=/x
-XX:HeapDumpPath=/x -XX:HeapDumpPath=x -XX:+HeapDumpOnOutOfMemoryError -XX:+HeapDumpBeforeFullGC -XX:LogFile=x
-XX:+LogVMOutput -XX:+LogCompilation -XX:SharedArchiveFile=/x -XX:ArchiveClassesAtExit=x -XX:+AutoCreateSharedArchive
-XX:AOTCache=x -XX:AOTMode=record -XX:AOTConfiguration=x -XX:AOTLibrary=/x.so -XX:SharedClassListFile=x
-XX:StartFlightRecording=filename=/x -XX:StartFlightRecording -XX:StartFlightRecording:delay=5s
-XX:FlightRecorderOptions=repository=/x -XX:+FlightRecorder -XX:+StartAttachListener -XX:-DisableAttachMechanism
-XX:+EnableDynamicAgentLoading -XX:+ManagementServer -XX:JVMCILibPath=/x -XX:+EnableJVMCI -XX:+UseJVMCICompiler
-XX:CompileCommand=quiet -XX:CompileCommandFile=/x -XX:CompileOnly=x -XX:CompilerDirectivesFile=/x
-XX:ReplayDataFile=x -XX:+ShowMessageBoxOnError -XX:+CrashOnOutOfMemoryError -XX:+CreateCoredumpOnCrash
-XX:AllocateHeapAt=/x -XX:PerfDataSaveFile=/x -XX:+PerfDataSaveToFile -XX:+DumpPerfMapAtExit
-XX:CRaCCheckpointTo=/x -XX:CRaCRestoreFrom=/x -XX:CREngine=/x -XX:+IgnoreUnrecognizedVMOptions
-XX:+WhiteBoxAPI -XX:TraceJVMTI=all -XX:-BytecodeVerificationRemote -XX:+ExtendedDTraceProbes
-XX:Name=/x -XX:Name=a/b -XX:Name=../x -XX:Name=a:b -XX:Name=$(x) -XX:Name=`x` -XX:Name= -XX:Name=word
-XX:MaxGCPauseMillis=50;x -XX:MaxGCPauseMillis=50,-XX:OnError=x -XX:MaxGCPauseMillis=$(x) -XX:
-Xbootclasspath/a:/x -Xbootclasspath:/x -Xrunjdwp:transport=dt_socket,server=y,address=*:5005 -Xdebug -Xrunhprof
-Xlog:gc:file=/x -Xlog:gc:/x -Xlog:gc:gc.log -Xlog:gc*:file=x:time -Xlog:all=trace:x -Xloggc:/x -Xlog:gc:stdoutx
-Xverify:none -Xshare:dump -XshowSettings:all -Xdump:tool:events=gpf,exec=x -Xtrace:output=/x -Xoptionsfile=/x
-XXaltjvm=/x -Xjre:/x -Xrs -Xmixed -Xcheck:jni -Xbatch -Xfuture -Xms1g/x -Xss$(x) -Xmnx
-Dcom.sun.management.jmxremote.port=9999 -Dcom.sun.management.jmxremote.authenticate=false
-Dcom.sun.management.config.file=/x -Djava.library.path=/x -Djava.class.path=/x -Djava.security.policy=/x
-Djava.security.manager=evil -Djava.security.properties=/x -Djava.security.krb5.conf=/x -Djava.system.class.loader=x
-Djava.rmi.server.codebase=http://x/ -Dcom.sun.jndi.rmi.object.trustURLCodebase=true -Dhadoop.log.dir=/etc
-Dhbase.log.dir=etc -Dhbase.conf.dir=x -Dlog4j.configuration=x -Dlog4j2.formatMsgNoLookups=false -Djna.boot.library.path=/x
-Dzookeeper.skipACL=yes -Dzookeeper.serverCnxnFactory=Evil -Dzookeeper.admin.serverPort=1
-Dio.netty.native.workdir=/x -Djdk.attach.allowAttachSelf=true -Djava.net.useSystemProxies=true -Dsocksproxyhost=x
-Dhttp.proxyHost=x -Djavax.net.ssl.trustStore=/x -Djavax.net.ssl.keyStorePassword=x -Dsun.boot.library.path=/x
-agentlib:jdwp=transport=dt_socket -agentpath:/x.so -javaagent:/x.jar --add-exports=java.base/x=ALL-UNNAMED
--patch-module=java.base=/x --module-path=/x @/x -jar -cp -classpath -splash:/x -version -help -ea -d64 -server
-XX:+A&&x -XX:+A|x -XX:+A\tx
""".split()
GOOD = """
-XX:+AlwaysPreTouch -XX:-AlwaysPreTouch -XX:MaxGCPauseMillis=50 -XX:GCPauseIntervalMillis=200 -XX:G1HeapRegionSize=4m
-XX:G1HeapRegionSize=32M -XX:InitiatingHeapOccupancyPercent=45 -XX:G1NewSizePercent=5 -XX:G1MaxNewSizePercent=60
-XX:G1ReservePercent=10 -XX:G1MixedGCCountTarget=8 -XX:G1HeapWastePercent=5 -XX:+ParallelRefProcEnabled
-XX:ParallelGCThreads=4 -XX:ConcGCThreads=2 -XX:+UseStringDeduplication -XX:StringDeduplicationAgeThreshold=3
-XX:+UnlockExperimentalVMOptions -XX:+UnlockDiagnosticVMOptions -XX:+UseNUMA -XX:+UseLargePages
-XX:+UseTransparentHugePages -XX:LargePageSizeInBytes=2m -XX:MetaspaceSize=128m -XX:MaxMetaspaceSize=256m
-XX:CompressedClassSpaceSize=64m -XX:ReservedCodeCacheSize=256m -XX:InitialCodeCacheSize=64m -XX:NewRatio=2
-XX:SurvivorRatio=8 -XX:NewSize=128m -XX:MaxNewSize=256m -XX:MaxTenuringThreshold=1 -XX:TargetSurvivorRatio=90
-XX:+ScavengeBeforeFullGC -XX:+UseAdaptiveSizePolicy -XX:GCTimeRatio=99 -XX:ThreadStackSize=512 -XX:+UseCompressedOops
-XX:-UseCompressedOops -XX:+UseCompressedClassPointers -XX:-UseBiasedLocking -XX:+DisableExplicitGC
-XX:+ExplicitGCInvokesConcurrent -XX:SoftRefLRUPolicyMSPerMB=1000 -XX:ZAllocationSpikeTolerance=5.0
-XX:ZCollectionInterval=5 -XX:+ZGenerational -XX:+ZUncommit -XX:ZUncommitDelay=300 -XX:SoftMaxHeapSize=1g
-XX:ShenandoahGCHeuristics=adaptive -XX:ShenandoahGCMode=satb -XX:ShenandoahGuaranteedGCInterval=30000
-XX:NativeMemoryTracking=summary -XX:MetaspaceReclaimPolicy=balanced -XX:ActiveProcessorCount=2
-XX:+PerfDisableSharedMem -XX:ObjectAlignmentInBytes=16 -XX:AutoBoxCacheMax=20000 -XX:LoopUnrollLimit=60
-XX:MaxInlineLevel=15 -XX:FreqInlineSize=325 -XX:+UseCountedLoopSafepoints -XX:GuaranteedSafepointInterval=0
-XX:+OptimizeStringConcat -XX:-StackTraceInThrowable -XX:TLABSize=1m -XX:+ResizeTLAB -XX:MinTLABSize=2k
-XX:PretenureSizeThreshold=1m -XX:+UseCondCardMark -XX:G1RSetUpdatingPauseTimePercent=5 -XX:+DebugNonSafepoints
-Xms1g -Xms512M -Xmn256m -Xss512k -Xss1m -Xnoclassgc -Xlog -Xlog:gc -Xlog:gc* -Xlog:gc*,safepoint=info
-Xlog:gc*=debug:stdout -Xlog:gc:stderr:time,level,tags -Xlog:safepoint::uptime
-Dorg.apache.hbase.thirdparty.io.netty.allocator.maxOrder=9 -Dio.netty.allocator.numDirectArenas=4
-Dio.netty.noPreferDirect=true -Djdk.nio.maxCachedBufferSize=262144 -Djute.maxbuffer=4194304
-Dzookeeper.snapCount=100000 -Dzookeeper.forceSync=false -Dsun.net.inetaddr.ttl=60
-Djava.util.concurrent.ForkJoinPool.common.parallelism=4 -Dsun.rmi.dgc.client.gcInterval=3600000
""".split()

def test_the_lists_are_long() -> None:
    assert len(set(EVIL)) >= 120 and len(set(GOOD)) >= 80


@pytest.mark.parametrize("flag", EVIL)
def test_an_evil_flag_is_refused(flag: str) -> None:
    assert flag_fault(flag), flag


@pytest.mark.parametrize("flag", GOOD)
def test_a_flag_that_tunes_is_taken(flag: str) -> None:
    assert flag_fault(flag) == ""


@pytest.mark.parametrize("end", ["\n-XX:OnError=x", "\r", "\x00", " ", "\u2028", "é"])
def test_nothing_follows_a_flag(end: str) -> None:
    assert flag_fault(f"-XX:MaxGCPauseMillis=50{end}")


def test_a_flag_has_a_bounded_length() -> None:
    assert flag_fault("-XX:+" + "A" * 100_000) and flag_fault("-Xlog:" + "a," * 100_000)


def test_no_text_flag_of_the_jvm_takes_any_text() -> None:
    """HotSpot's own list: what is not a number or a switch is a text, and only listed words are taken."""
    argv = [str(find_java().command), "-XX:+UnlockDiagnosticVMOptions",
            "-XX:+UnlockExperimentalVMOptions", "-XX:+PrintFlagsFinal", "-version"]  # fmt: skip
    told = subprocess.run(argv, capture_output=True, text=True, check=True).stdout
    texts = [line.split()[1] for line in told.splitlines() if line.strip().startswith("ccstr")]
    assert "OnError" in texts and len(texts) > 20
    words = {"NativeMemoryTracking", "ShenandoahGCHeuristics", "ShenandoahGCMode", "MetaspaceReclaimPolicy",
             "OnSpinWaitInst", "UseBranchProtection"}  # fmt: skip
    harmless = {"AbortVMOnException", "AbortVMOnExceptionMessage", "ControlIntrinsic", "DisableIntrinsic",
                "VerifyGCType", "VerifySubSet"}  # fmt: skip
    for name in texts:
        assert flag_fault(f"-XX:{name}=word") and flag_fault(f"-XX:{name}=/x"), name
        if name not in words | harmless:
            assert flag_fault(f"-XX:{name}=7"), name
